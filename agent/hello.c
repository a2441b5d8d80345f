/* `hello`: the host and its interfaces; the addresses are in hello_address.c. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"
#include "files.h"
#include "hello.h"
#include "link.h"

/* Cuts KEY=value or KEY="value" out of a shell-like file. False when the key is not there. */
static bool read_setting(
	const char *root, const char *file, const char *key, char *value, size_t size)
{
	char path[FILES_PATH_MAX], text[4096];
	char *rest = text;
	size_t key_length = strlen(key);

	if (!files_join(path, sizeof(path), root, file, NULL) ||
		files_read(path, text, sizeof(text)) <= 0)
		return false;
	for (char *line = files_next_line(&rest); line; line = files_next_line(&rest)) {
		if (strncmp(line, key, key_length) != 0 || line[key_length] != '=')
			continue;
		line += key_length + 1;
		if (*line == '"' || *line == '\'')
			line++;
		size_t length = strcspn(line, "\"'");

		if (length >= size)
			length = size - 1;
		memcpy(value, line, length);
		value[length] = '\0';
		return length > 0;
	}
	return false;
}

static void say_firmware(struct wire_writer *writer, const char *root, const char *version)
{
	char release[256], target[128], firmware[400];

	if (read_setting(root, "/etc/openwrt_release", "DISTRIB_DESCRIPTION", release,
		    sizeof(release))) {
		bool targeted = read_setting(
			root, "/etc/openwrt_release", "DISTRIB_TARGET", target, sizeof(target));

		files_join(firmware, sizeof(firmware), release, targeted ? " " : "",
			targeted ? target : "", NULL);
		wire_writer_text(writer, "firmware", firmware);
	} else if (read_setting(root, "/etc/os-release", "PRETTY_NAME", release, sizeof(release))) {
		wire_writer_text(writer, "firmware", release);
	} else {
		wire_writer_text(writer, "firmware", version);
	}
}

static void say_boot_id(struct wire_writer *writer, const char *root)
{
	char path[FILES_PATH_MAX], text[64];
	char *rest = text;

	if (files_join(path, sizeof(path), root, "/proc/sys/kernel/random/boot_id", NULL) &&
		files_read(path, text, sizeof(text)) > 0)
		wire_writer_text(writer, "boot_id", files_next_line(&rest));
}

static void say_memory(struct wire_writer *writer, const char *root)
{
	char path[FILES_PATH_MAX], text[1024];
	int64_t kilobytes;

	if (!files_join(path, sizeof(path), root, "/proc/meminfo", NULL) ||
		files_read(path, text, sizeof(text)) <= 0)
		return;
	const char *at = strstr(text, "MemTotal:");

	if (!at)
		return;
	at += strlen("MemTotal:");
	if (files_parse_number(&at, &kilobytes))
		wire_writer_number(writer, "memory_kb", kilobytes);
}

static void say_host(struct agent *agent, uint32_t id)
{
	struct utsname name;
	struct wire_writer *writer = agent_begin(agent, id, "host");

	if (uname(&name) < 0)
		memset(&name, 0, sizeof(name));
	wire_writer_text(writer, "arch", name.machine);
	wire_writer_text(writer, "kernel", name.release);
	say_firmware(writer, agent->root, name.version);
	wire_writer_number(writer, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	wire_writer_number(writer, "ticks", sysconf(_SC_CLK_TCK));
	say_boot_id(writer, agent->root);
	wire_writer_number(writer, "uid", (int64_t)geteuid());
	say_memory(writer, agent->root);
	agent_end(agent);
}

static const char *kind_of(const char *root, const struct hello_link *link)
{
	static const char *const virtual_kinds[] = {"bridge", "bond", "vlan", "veth"};

	/* A hwsim radio or an access point's second interface has no device of its own. */
	if (link_has(root, link->name, "/wireless") || link_has(root, link->name, "/phy80211"))
		return "wifi";
	for (size_t i = 0; i < sizeof(virtual_kinds) / sizeof(virtual_kinds[0]); i++) {
		if (strcmp(link->kind, virtual_kinds[i]) == 0)
			return virtual_kinds[i];
	}
	if (link->kind[0] == '\0' && link_has(root, link->name, "/bridge"))
		return "bridge";
	return link->kind[0] == '\0' && link_has(root, link->name, "/device") ? "physical"
									      : "other";
}

static void say_interface(struct agent *agent, uint32_t id, const struct hello_links *links,
	const struct hello_link *link)
{
	struct wire_writer *writer = agent_begin(agent, id, "interface");
	const char *kind = kind_of(agent->root, link);
	const struct hello_link *master = hello_links_find(links, link->master);

	wire_writer_text(writer, "name", link->name);
	wire_writer_number(writer, "index", link->index);
	wire_writer_text(writer, "kind", kind);
	if (master)
		wire_writer_text(writer, "master", master->name);
	wire_writer_number(writer, "mtu", link->mtu);
	wire_writer_number(writer, "carrier", link->carrier);
	if (strcmp(kind, "physical") == 0)
		link_say_speed(writer, agent->root, link->name);
	agent_end(agent);
}

void request_hello(struct agent *agent, const struct wire_record *request)
{
	struct hello_links links = {0};
	int result = hello_links_read(&links);

	if (result < 0) {
		agent_say_errno(agent, request->id, "setup", "reading interfaces", -result);
		hello_links_finish(&links);
		return;
	}
	say_host(agent, request->id);
	for (size_t i = 0; i < links.count; i++) {
		if (!links.links[i].loopback)
			say_interface(agent, request->id, &links, &links.links[i]);
	}
	result = hello_say_addresses(agent, request->id, &links);
	if (result < 0)
		agent_say_errno(agent, request->id, "setup", "reading addresses", -result);
	else
		agent_say_ok(agent, request->id);
	hello_links_finish(&links);
}
