#include "unbuilt.h"

#include <string.h>

struct test_feature {
	const char *what;
	bool (*used)(const struct topology_test *test, enum topology_direction direction);
};

struct host_feature {
	const char *what;
	bool (*used)(const struct topology_host *host);
};

static bool is_copy(const struct topology_test *test, enum topology_direction direction)
{
	(void)direction;
	return test->kind == TOPOLOGY_COPY;
}

static bool is_foreign(const struct topology_test *test, enum topology_direction direction)
{
	(void)direction;
	return strcmp(test->engine, "native") != 0;
}

static bool is_bidir(const struct topology_test *test, enum topology_direction direction)
{
	return test->kind != TOPOLOGY_TCP && direction == TOPOLOGY_BIDIR;
}

static bool has_bytes(const struct topology_test *test, enum topology_direction direction)
{
	(void)direction;
	return test->kind != TOPOLOGY_TCP && test->bytes > 0;
}

static const struct test_feature test_features[] = {
	{"a copy test", is_copy},
	{"an engine other than native", is_foreign},
	{"direction: bidir of a test other than tcp", is_bidir},
	{"a test other than tcp that ends by bytes", has_bytes},
};

static bool is_passive(const struct topology_host *host)
{
	return host->transport == TOPOLOGY_PASSIVE;
}

static bool has_via(const struct topology_host *host)
{
	return host->ssh.via != NULL;
}

static bool has_openssh(const struct topology_host *host)
{
	return host->ssh.openssh;
}

static bool has_password(const struct topology_host *host)
{
	return host->ssh.password_env != NULL;
}

static bool has_sudo(const struct topology_host *host)
{
	return host->sudo;
}

static bool has_firmware(const struct topology_host *host)
{
	return host->firmware_command != NULL;
}

static bool has_inband(const struct topology_host *host)
{
	return host->lab.inband;
}

static const struct host_feature host_features[] = {
	{"a passive host", is_passive},
	{"ssh via another host", has_via},
	{"ssh with client: openssh", has_openssh},
	{"ssh with password_env", has_password},
	{"sudo", has_sudo},
	{"firmware: {command: ...}", has_firmware},
	{"control: inband", has_inband},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int refuse(const struct plan *plan, struct topology_mark mark, const char *what,
	const char *name, struct error *err)
{
	char where[sizeof(err->where)];

	return error_set(err, ERROR_UNBUILT,
		topology_where(plan->topology, mark, where, sizeof(where)),
		"%s is not built yet%s%s%s", what, name ? " (\"" : "", name ? name : "",
		name ? "\")" : "");
}

static int check_test(const struct plan *plan, const struct topology_test *test,
	enum topology_direction direction, struct error *err)
{
	size_t i;

	for (i = 0; i < COUNT(test_features); i++) {
		if (test_features[i].used(test, direction))
			return refuse(plan, test->mark, test_features[i].what, test->id, err);
	}
	return 0;
}

static int check_host(const struct plan *plan, const struct topology_host *host, struct error *err)
{
	size_t i;

	for (i = 0; i < COUNT(host_features); i++) {
		if (host_features[i].used(host))
			return refuse(plan, host->mark, host_features[i].what, host->name, err);
	}
	return 0;
}

/* The hosts and tests that a series needs; others in the file do no harm. */
static int check_series(
	const struct plan *plan, const struct plan_series *series, struct error *err)
{
	const struct topology *topology = plan->topology;
	const struct plan_segment *segment = &plan->segments[series->segment];
	const struct topology_path *path = &topology->paths[segment->path];
	size_t i;

	if (check_test(plan, &topology->tests[series->test], series->direction, err) < 0)
		return -1;
	for (i = segment->first; i <= segment->last + 1; i++) {
		if (check_host(plan, &topology->hosts[path->hosts[i]], err) < 0)
			return -1;
	}
	return 0;
}

int unbuilt_check(const struct plan *plan, struct error *err)
{
	size_t i;

	for (i = 0; i < plan->series_count; i++) {
		if (check_series(plan, &plan->series[i], err) < 0)
			return -1;
	}
	if (plan->topology->expect.given)
		return refuse(plan, plan->topology->expect.mark, "expect", NULL, err);
	return 0;
}
