#include "lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab_cgroup.h"
#include "lab_kernel.h"
#include "lab_layout.h"
#include "lab_names.h"
#include "lab_processes.h"
#include "lab_record.h"
#include "lab_script.h"
#include "lab_ssh.h"
#include "lab_tool.h"

#define CGROUP_DEADLINE_TRIES 200000

static int check_root(struct error *err)
{
	if (!geteuid())
		return 0;
	return error_set(err, ERROR_LAB, "lab", "the lab needs root: run with sudo");
}

static const char *cgroup_of(const struct lab_cgroup_root *root, const struct topology *topology,
	const struct topology_host *host, char buffer[static LAB_CGROUP_SIZE])
{
	char name[2 * LAB_NAME_SIZE];

	lab_names_host(topology, host, name, sizeof(name));
	snprintf(buffer, LAB_CGROUP_SIZE, "%s/%s", root->folder, name);
	return buffer;
}

static bool wants_cpu(const struct topology *topology)
{
	for (size_t i = 0; i < topology->host_count; i++)
		if (topology->hosts[i].lab.cpu > 0)
			return true;
	return false;
}

/* Everything that is missing is said before anything is made. */
static int check_tools(const struct lab_script *script, struct error *err)
{
	static const char *const always[] = {"ip", "tc", "sshd", "ssh-keygen"};
	char path[64];

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (!lab_tool_find(always[i], path, sizeof(path), err))
			return -1;
	for (size_t i = 0; i < script->host_count; i++)
		if (*script->hosts[i].nft && !lab_tool_find("nft", path, sizeof(path), err))
			return -1;
	return 0;
}

static bool namespace_exists(const char *name)
{
	char path[sizeof(LAB_NETNS_FOLDER) + 2 * LAB_NAME_SIZE];

	snprintf(path, sizeof(path), LAB_NETNS_FOLDER "/%s", name);
	return !access(path, F_OK);
}

static int fill_record(const struct topology *topology, const struct lab_cgroup_root *cgroups,
	int owner, struct lab_record *record, struct error *err)
{
	char name[2 * LAB_NAME_SIZE], folder[LAB_CGROUP_SIZE];

	record->builder = lab_record_process((int)getpid());
	record->owner = owner ? lab_record_process(owner) : (struct lab_process){0};
	for (size_t i = 0; i < topology->host_count; i++) {
		const struct topology_host *host = &topology->hosts[i];

		lab_names_host(topology, host, name, sizeof(name));
		if (namespace_exists(name))
			return error_set(err, ERROR_LAB, "lab",
				"the namespace %s is there already and is not this lab's;\n"
				"remove it (ip netns delete %s) or rename the topology",
				name, name);
		if (lab_record_add(&record->namespaces, &record->namespace_count, name))
			return error_set(err, ERROR_SYSTEM, "lab", "out of memory");
		if (host->lab.cpu > 0 && lab_record_add(&record->cgroups, &record->cgroup_count,
						 cgroup_of(cgroups, topology, host, folder)))
			return error_set(err, ERROR_SYSTEM, "lab", "out of memory");
	}
	return 0;
}

static int delete_namespaces(const struct lab_record *record, struct error *err)
{
	static const char *const argv[] = {"ip", "-force", "-batch", "-", NULL};
	char *text = NULL;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);
	int result = 0;

	if (!out)
		return error_set(err, ERROR_SYSTEM, "lab", "out of memory");
	for (size_t i = 0; i < record->namespace_count; i++)
		if (namespace_exists(record->namespaces[i])) {
			fprintf(out, "netns delete %s\n", record->namespaces[i]);
			count++;
		}
	if (fclose(out))
		result = error_set(err, ERROR_SYSTEM, "lab", "out of memory");
	else if (count)
		result = lab_tool_run(argv, text, err);
	free(text);
	return result;
}

/* A process that was just killed may keep its cgroup busy for a moment. */
static int remove_cgroup(const char *folder, struct error *err)
{
	for (int i = 0; i < CGROUP_DEADLINE_TRIES; i++)
		if (!rmdir(folder) || errno == ENOENT)
			return 0;
		else if (errno != EBUSY)
			break;
	return error_set(
		err, ERROR_LAB, "lab", "cannot remove the cgroup %s: %s", folder, strerror(errno));
}

/* Goes on after a failure, so that as little as possible stays; the record stays then as well. */
static int take_down(const char *folder, const struct lab_record *record, struct error *err)
{
	int result = 0;
	size_t left = lab_processes_end(
		record->namespaces, record->namespace_count, record->cgroups, record->cgroup_count);

	if (left)
		result = error_set(
			err, ERROR_LAB, "lab", "%zu processes in the lab cannot be ended", left);
	if (delete_namespaces(record, result ? NULL : err))
		result = -1;
	for (size_t i = 0; i < record->cgroup_count; i++)
		if (remove_cgroup(record->cgroups[i], result ? NULL : err))
			result = -1;
	if (!result)
		lab_record_remove(folder);
	return result;
}

static int build_host(const struct topology *topology, const struct lab_script *script,
	size_t index, struct error *err)
{
	const struct lab_host_script *host = &script->hosts[index];
	char name[2 * LAB_NAME_SIZE];
	const char *const ip[] = {"ip", "-n", name, "-batch", "-", NULL};
	const char *const tc[] = {"tc", "-n", name, "-batch", "-", NULL};
	char path[64];
	/* By its place: what `ip` starts is searched in PATH, which cron gives without sbin. */
	const char *const nft[] = {"ip", "netns", "exec", name, path, "-f", "-", NULL};

	lab_names_host(topology, &topology->hosts[index], name, sizeof(name));
	if (lab_tool_run(ip, host->ip, err))
		return -1;
	if (*host->tc && lab_tool_run(tc, host->tc, err))
		return -1;
	if (!*host->nft)
		return 0;
	return lab_tool_find("nft", path, sizeof(path), err) ? lab_tool_run(nft, host->nft, err)
							     : -1;
}

static int build_cgroups(
	const struct topology *topology, const struct lab_cgroup_root *cgroups, struct error *err)
{
	char folder[LAB_CGROUP_SIZE];

	for (size_t i = 0; i < topology->host_count; i++) {
		const struct topology_host *host = &topology->hosts[i];

		if (host->lab.cpu > 0 &&
			lab_cgroup_create(cgroups, cgroup_of(cgroups, topology, host, folder),
				host->lab.cpu, err))
			return -1;
	}
	return 0;
}

static int build(const struct lab_layout *layout, const struct lab_script *script,
	const struct lab_cgroup_root *cgroups, const char *folder, struct error *err)
{
	static const char *const batch[] = {"ip", "-batch", "-", NULL};
	const struct topology *topology = layout->topology;

	if (lab_tool_run(batch, script->namespaces, err) || lab_kernel_prepare(layout, err) ||
		lab_tool_run(batch, script->cables, err) ||
		lab_kernel_disable_offloads(layout, err))
		return -1;
	for (size_t i = 0; i < topology->host_count; i++)
		if (build_host(topology, script, i, err))
			return -1;
	if (build_cgroups(topology, cgroups, err))
		return -1;
	return lab_ssh_create(topology, folder, err);
}

/* What the record of an earlier lab means now. */
static enum lab_state judge(const struct lab_record *record)
{
	if (!record->ready)
		return lab_record_alive(&record->builder) ? LAB_OWNED : LAB_STALE;
	for (size_t i = 0; i < record->namespace_count; i++)
		if (!namespace_exists(record->namespaces[i]))
			return LAB_STALE;
	if (!record->owner.pid)
		return LAB_KEPT;
	return lab_record_alive(&record->owner) ? LAB_OWNED : LAB_STALE;
}

/* Returns 1 when the lab is up as wanted, 0 when the way is free, -1 on an error. Holding the lock:
 * a lab that is being built by a living process is one that its builder gave up. */
static int clear_way(const struct topology *topology, const char *folder, uint64_t fingerprint,
	struct error *err)
{
	struct lab_record old;
	enum lab_state state;
	int result = 0;

	if (!lab_record_read(folder, &old)) {
		lab_record_remove(folder);
		return 0;
	}
	state = old.ready ? judge(&old) : LAB_STALE;
	if (state == LAB_STALE)
		result = take_down(folder, &old, err);
	else if (state == LAB_OWNED)
		result = error_set(err, ERROR_LAB, "lab",
			"the lab '%s' is in use by process %d; wait for its end", topology->name,
			old.owner.pid);
	else if (old.fingerprint == fingerprint)
		result = 1;
	else
		result = error_set(err, ERROR_LAB, "lab",
			"a lab '%s' of another topology is up;\n"
			"take it down first: orch lab down %s",
			topology->name, topology->file);
	lab_record_finish(&old);
	return result;
}

static int build_locked(const struct lab_layout *layout, const struct lab_script *script, int owner,
	struct error *err)
{
	const struct topology *topology = layout->topology;
	struct lab_record record = {.fingerprint = lab_script_fingerprint(script, topology)};
	struct lab_cgroup_root cgroups = {0};
	char folder[LAB_FOLDER_SIZE];
	int result;

	lab_record_folder(topology, folder);
	result = clear_way(topology, folder, record.fingerprint, err);
	if (result)
		return result > 0 ? 0 : -1;
	if ((wants_cpu(topology) && lab_cgroup_find_here(&cgroups, err)) ||
		fill_record(topology, &cgroups, owner, &record, err)) {
		lab_record_finish(&record);
		return -1;
	}
	result = lab_record_write(folder, &record, err);
	if (!result)
		result = build(layout, script, &cgroups, folder, err);
	if (!result) {
		record.ready = true;
		result = lab_record_write(folder, &record, err);
	}
	if (result)
		take_down(folder, &record, NULL);
	lab_record_finish(&record);
	return result;
}

int lab_up(const struct topology *topology, int owner, struct error *err)
{
	struct lab_layout *layout;
	struct lab_script *script = NULL;
	int lock, result = -1;

	if (check_root(err))
		return -1;
	if (!topology->lab)
		return error_set(err, ERROR_LAB, topology->file,
			"this topology has no 'lab:' key; its hosts are real ones");
	layout = lab_layout_create(topology, err);
	if (layout)
		script = lab_script_create(layout, lab_kernel_has_ipv6(), err);
	if (script && !check_tools(script, err)) {
		lock = lab_record_lock(err);
		if (lock >= 0)
			result = build_locked(layout, script, owner, err);
		lab_record_unlock(lock);
	}
	lab_script_destroy(script);
	lab_layout_destroy(layout);
	return result;
}

int lab_down(const struct topology *topology, struct error *err)
{
	char folder[LAB_FOLDER_SIZE];
	struct lab_record record;
	int lock, result = 0;

	if (check_root(err))
		return -1;
	lock = lab_record_lock(err);
	if (lock < 0)
		return -1;
	lab_record_folder(topology, folder);
	if (lab_record_read(folder, &record))
		result = take_down(folder, &record, err);
	else
		lab_record_remove(folder);
	lab_record_finish(&record);
	lab_record_unlock(lock);
	return result;
}

enum lab_state lab_status(const struct topology *topology, int *ret_owner)
{
	char folder[LAB_FOLDER_SIZE];
	struct lab_record record;
	enum lab_state state = LAB_DOWN;

	if (lab_record_read(lab_record_folder(topology, folder), &record)) {
		state = judge(&record);
		if (ret_owner)
			*ret_owner = record.ready ? record.owner.pid : record.builder.pid;
	} else if (ret_owner) {
		*ret_owner = 0;
	}
	lab_record_finish(&record);
	return state;
}

int lab_attach(struct topology *topology, struct error *err)
{
	struct lab_cgroup_root cgroups = {0};
	char folder[LAB_FOLDER_SIZE], cgroup[LAB_CGROUP_SIZE];
	struct lab_record record;
	bool ready = lab_record_read(lab_record_folder(topology, folder), &record) && record.ready;

	lab_record_finish(&record);
	if (!ready)
		return error_set(err, ERROR_LAB, "lab",
			"the lab '%s' is not up; bring it up: orch lab up %s", topology->name,
			topology->file ? topology->file : "TOPOLOGY");
	if (wants_cpu(topology) && lab_cgroup_find_here(&cgroups, err))
		return -1;
	for (size_t i = 0; i < topology->host_count; i++) {
		struct topology_host *host = &topology->hosts[i];
		const char *joined =
			host->lab.cpu > 0 ? cgroup_of(&cgroups, topology, host, cgroup) : NULL;

		if (lab_ssh_attach(topology, host, folder, joined, err))
			return -1;
	}
	return 0;
}

const char *lab_namespace(const struct topology *topology, const struct topology_host *host,
	char *buffer, size_t size)
{
	return lab_names_host(topology, host, buffer, size);
}

int lab_address(const struct topology *topology, size_t link, bool end_b, int family, char *buffer,
	size_t size)
{
	struct lab_layout *layout = lab_layout_create(topology, NULL);
	const struct lab_port *port;
	const char *address;

	if (!layout)
		return -1;
	port = &layout->ports[layout->end_ports[2 * link + end_b]];
	address = family == 6 ? port->address6 : port->address4;
	snprintf(buffer, size, "%s", address);
	lab_layout_destroy(layout);
	return *buffer ? 0 : -1;
}

static int join_cgroup(
	const struct topology *topology, const struct topology_host *host, struct error *err)
{
	struct lab_cgroup_root root;
	char folder[LAB_CGROUP_SIZE], path[LAB_CGROUP_SIZE + 32];
	FILE *file;

	if (host->lab.cpu <= 0)
		return 0;
	if (lab_cgroup_find_here(&root, err))
		return -1;
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup_of(&root, topology, host, folder));
	file = fopen(path, "we");
	if (file && fputs("0", file) >= 0 && !fclose(file))
		return 0;
	return error_set(err, ERROR_LAB, host->name, "cannot join %s: %s", path, strerror(errno));
}

int lab_exec(const struct topology *topology, const struct topology_host *host, char *const argv[],
	struct error *err)
{
	char ip[64], name[2 * LAB_NAME_SIZE];
	const char **arguments;
	size_t count = 0;

	if (check_root(err) || !lab_tool_find("ip", ip, sizeof(ip), err))
		return -1;
	lab_names_host(topology, host, name, sizeof(name));
	if (!namespace_exists(name))
		return error_set(err, ERROR_LAB, host->name,
			"the lab '%s' is not up; bring it up: orch lab up %s", topology->name,
			topology->file ? topology->file : "TOPOLOGY");
	if (join_cgroup(topology, host, err))
		return -1;
	while (argv[count])
		count++;
	arguments = calloc(count + 5, sizeof(*arguments));
	if (!arguments)
		return error_set(err, ERROR_SYSTEM, "lab", "out of memory");
	arguments[0] = ip;
	arguments[1] = "netns";
	arguments[2] = "exec";
	arguments[3] = name;
	memcpy(arguments + 4, argv, count * sizeof(*arguments));
	execv(ip, (char *const *)(uintptr_t)arguments);
	free(arguments);
	return error_set(err, ERROR_LAB, host->name, "cannot start %s: %s", ip, strerror(errno));
}
