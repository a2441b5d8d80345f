#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct topology *load(
	const char *text, size_t length, const char *file, enum topology_mode mode)
{
	struct error err = {0};
	struct topology *topology = topology_load(text, length, file, mode, &err);

	if (!topology)
		fail_msg("%s: %s", err.where, err.message);
	return topology;
}

struct topology *load_text(const char *text, enum topology_mode mode)
{
	return load(text, strlen(text), "test.yaml", mode);
}

char *read_file(const char *path, size_t *ret_length)
{
	FILE *file = fopen(path, "rb");
	size_t size = 1 << 20;
	char *text = malloc(size);

	if (!file || !text)
		fail_msg("%s cannot be read", path);
	*ret_length = fread(text, 1, size - 1, file);
	text[*ret_length] = '\0';
	fclose(file);
	return text;
}

struct topology *load_file(const char *path)
{
	size_t length;
	char *text = read_file(path, &length);
	struct topology *topology = load(text, length, path, TOPOLOGY_FILE);

	free(text);
	return topology;
}

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

static void same_list(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
	size_t i;

	assert_int_equal(a_count, b_count);
	for (i = 0; i < a_count; i++)
		same_text(a[i], b[i]);
}

static void same_ssh(const struct topology_ssh *a, const struct topology_ssh *b)
{
	same_text(a->host, b->host);
	assert_int_equal(a->port, b->port);
	same_text(a->user, b->user);
	same_text(a->identity, b->identity);
	same_text(a->via, b->via);
	same_text(a->proxy_command, b->proxy_command);
	same_text(a->known_hosts, b->known_hosts);
	same_text(a->password_env, b->password_env);
	assert_int_equal(a->openssh, b->openssh);
	assert_int_equal(a->host_keys, b->host_keys);
}

static void same_host(const struct topology_host *a, const struct topology_host *b)
{
	same_text(a->name, b->name);
	assert_int_equal(a->transport, b->transport);
	same_ssh(&a->ssh, &b->ssh);
	same_list(a->exec, a->exec_count, b->exec, b->exec_count);
	assert_int_equal(a->dut, b->dut);
	assert_int_equal(a->sudo, b->sudo);
	same_text(a->firmware_command, b->firmware_command);
	same_text(a->tmp, b->tmp);
	same_text(a->agent, b->agent);
	same_list(a->tool_names, a->tool_count, b->tool_names, b->tool_count);
	same_list(a->tool_paths, a->tool_count, b->tool_paths, b->tool_count);
	assert_int_equal(a->lab.forward_limit, b->lab.forward_limit);
	assert_int_equal(a->lab.nat, b->lab.nat);
	assert_true(a->lab.cpu == b->lab.cpu);
	assert_int_equal(a->lab.bridge_all, b->lab.bridge_all);
	same_list(a->lab.bridge, a->lab.bridge_count, b->lab.bridge, b->lab.bridge_count);
	assert_int_equal(a->lab.inband, b->lab.inband);
}

static void same_end(const struct topology_end *a, const struct topology_end *b)
{
	assert_int_equal(a->host, b->host);
	same_text(a->interface, b->interface);
	same_text(a->device, b->device);
	same_text(a->address, b->address);
}

static void same_link(const struct topology_link *a, const struct topology_link *b)
{
	same_text(a->name, b->name);
	same_end(&a->a, &b->a);
	same_end(&a->b, &b->b);
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->medium, b->medium);
	same_text(a->shares, b->shares);
	assert_int_equal(a->listen, b->listen);
	assert_int_equal(a->lab.rate_forward, b->lab.rate_forward);
	assert_int_equal(a->lab.rate_reverse, b->lab.rate_reverse);
	assert_int_equal(a->lab.queue, b->lab.queue);
	assert_int_equal(a->lab.mtu, b->lab.mtu);
	assert_true(a->lab.loss == b->lab.loss);
}

static void same_path(const struct topology_path *a, const struct topology_path *b)
{
	size_t i;

	same_text(a->name, b->name);
	assert_int_equal(a->listen, b->listen);
	assert_int_equal(a->link_count, b->link_count);
	for (i = 0; i <= a->link_count; i++)
		assert_int_equal(a->hosts[i], b->hosts[i]);
	for (i = 0; i < a->link_count; i++) {
		assert_int_equal(a->links[i], b->links[i]);
		assert_int_equal(a->flipped[i], b->flipped[i]);
	}
}

static void same_test(const struct topology_test *a, const struct topology_test *b)
{
	same_text(a->id, b->id);
	assert_int_equal(a->kind, b->kind);
	same_text(a->engine, b->engine);
	assert_int_equal(a->direction, b->direction);
	assert_int_equal(a->duration, b->duration);
	assert_int_equal(a->omit, b->omit);
	assert_int_equal(a->interval, b->interval);
	assert_int_equal(a->gap, b->gap);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->streams, b->streams);
	assert_int_equal(a->block, b->block);
	assert_int_equal(a->window, b->window);
	assert_int_equal(a->pacing, b->pacing);
	same_text(a->congestion, b->congestion);
	assert_int_equal(a->mss, b->mss);
	assert_int_equal(a->dscp, b->dscp);
	assert_int_equal(a->family, b->family);
	assert_int_equal(a->port_first, b->port_first);
	assert_int_equal(a->port_last, b->port_last);
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->rate_search, b->rate_search);
	assert_true(a->loss_limit == b->loss_limit);
	assert_int_equal(a->size, b->size);
	same_text(a->transport, b->transport);
	same_text(a->method, b->method);
	same_text(a->from, b->from);
	same_text(a->to, b->to);
	same_text(a->verify, b->verify);
}

void assert_same_topology(const struct topology *a, const struct topology *b)
{
	size_t i;

	same_text(a->name, b->name);
	assert_int_equal(a->lab, b->lab);
	assert_int_equal(a->trials, b->trials);
	assert_int_equal(a->host_count, b->host_count);
	for (i = 0; i < a->host_count; i++)
		same_host(&a->hosts[i], &b->hosts[i]);
	assert_int_equal(a->link_count, b->link_count);
	for (i = 0; i < a->link_count; i++)
		same_link(&a->links[i], &b->links[i]);
	assert_int_equal(a->path_count, b->path_count);
	for (i = 0; i < a->path_count; i++)
		same_path(&a->paths[i], &b->paths[i]);
	assert_int_equal(a->test_count, b->test_count);
	for (i = 0; i < a->test_count; i++)
		same_test(&a->tests[i], &b->tests[i]);
	assert_true(a->verdict.tie == b->verdict.tie);
	assert_true(a->verdict.end_to_end == b->verdict.end_to_end);
	assert_int_equal(a->expect.given, b->expect.given);
	same_text(a->expect.link, b->expect.link);
	assert_int_equal(a->expect.min_count, b->expect.min_count);
	for (i = 0; i < a->expect.min_count; i++) {
		same_text(a->expect.min[i].segment, b->expect.min[i].segment);
		assert_int_equal(a->expect.min[i].rate, b->expect.min[i].rate);
	}
}
