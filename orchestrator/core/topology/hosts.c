#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "../units.h"
#include "parts.h"

static const char *const transport_names[] = {
	[TOPOLOGY_SSH] = "ssh",
	[TOPOLOGY_EXEC] = "exec",
	[TOPOLOGY_LOCAL] = "local",
	[TOPOLOGY_PASSIVE] = "passive",
};

static int set_transport(struct reader *reader, const struct node *value,
	struct topology_host *host, enum topology_transport transport)
{
	if (host->transport != TOPOLOGY_NONE)
		return reader_fail(reader, value->key_mark,
			"host \"%s\" has two transports, %s and %s; keep one", host->name,
			transport_names[host->transport], transport_names[transport]);
	host->transport = transport;
	return 0;
}

static int bad_ssh(struct reader *reader, const struct node *value)
{
	return reader_fail(reader, value->mark,
		"ssh \"%.80s\" is not of the form user@host, host:port or user@[v6-address]:port",
		value->text);
}

static char *copy_part(const char *text, size_t length)
{
	return length ? strndup(text, length) : NULL;
}

/* The host's and the port's part of "host", "host:port", "[address]:port" or a bare IPv6 address.
 */
static bool split_port(
	const char *text, size_t *ret_start, size_t *ret_length, const char **ret_port)
{
	const char *close = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *colon = strchr(text, ':');

	*ret_start = close ? 1 : 0;
	*ret_port = NULL;
	if (text[0] == '[') {
		if (!close || (close[1] != '\0' && close[1] != ':'))
			return false;
		*ret_length = (size_t)(close - text) - 1;
		if (close[1] == ':')
			*ret_port = close + 2;
	} else if (colon && !strchr(colon + 1, ':')) {
		*ret_length = (size_t)(colon - text);
		*ret_port = colon + 1;
	} else {
		*ret_length = strlen(text);
	}
	return *ret_length > 0;
}

/* user@host:port */
static int read_ssh_text(struct reader *reader, const struct node *value, struct topology_ssh *ssh)
{
	const char *text = reader_text(reader, "ssh", value);
	const char *at = text ? strrchr(text, '@') : NULL;
	const char *rest = at ? at + 1 : text;
	size_t start = 0, length = 0;
	const char *port = NULL;
	int64_t number = 22;

	if (!text)
		return -1;
	if (at == text || text[0] == '-' || rest[0] == '-' || strpbrk(text, " \t\r\n/") ||
		!split_port(rest, &start, &length, &port))
		return bad_ssh(reader, value);
	if (port && (units_parse_count(port, &number, NULL) < 0 || number < 1 || number > 65535))
		return bad_ssh(reader, value);
	ssh->port = (int)number;
	ssh->host = copy_part(rest + start, length);
	ssh->user = at ? copy_part(text, (size_t)(at - text)) : NULL;
	return ssh->host && (ssh->user || !at) ? 0 : reader_out_of_memory(reader);
}

static int read_client(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	int choice = 0;

	if (reader_choice(reader, field, value, &choice) < 0)
		return -1;
	*(bool *)target = choice != 0;
	return 0;
}

static const struct reader_choice clients[] = {{"libssh2", 0}, {"openssh", 1}, {NULL, 0}};
static const struct reader_choice host_keys[] = {{"strict", TOPOLOGY_STRICT},
	{"accept-new", TOPOLOGY_ACCEPT_NEW}, {"off", TOPOLOGY_OFF}, {NULL, 0}};

#define SSH(member) offsetof(struct topology_ssh, member)

static const struct field ssh_fields[] = {
	{"host", reader_string, SSH(host)},
	{"port", reader_int, SSH(port), 1, 65535},
	{"user", reader_string, SSH(user)},
	{"identity", reader_string, SSH(identity)},
	{"via", reader_string, SSH(via)},
	{"proxy_command", reader_string, SSH(proxy_command)},
	{"client", read_client, SSH(openssh), .choices = clients},
	{"known_hosts", reader_string, SSH(known_hosts)},
	{"host_keys", reader_choice, SSH(host_keys), .choices = host_keys},
	{"password_env", reader_string, SSH(password_env)},
};
static const struct field_table ssh_table = FIELD_TABLE(ssh_fields);

static int read_ssh(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_host *host = target;

	(void)field;
	if (set_transport(reader, value, host, TOPOLOGY_SSH) < 0)
		return -1;
	if (value->kind == NODE_SCALAR)
		return read_ssh_text(reader, value, &host->ssh);
	if (reader_mapping(reader, value, "ssh", &ssh_table, &host->ssh) < 0)
		return -1;
	if (!host->ssh.host)
		return reader_fail(reader, value->mark, "ssh needs a host: {host: ADDRESS}");
	if (host->ssh.host[0] == '-' || (host->ssh.user && host->ssh.user[0] == '-'))
		return reader_fail(
			reader, value->mark, "a host or user of ssh cannot begin with \"-\"");
	return 0;
}

static int read_exec(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_host *host = target;

	if (set_transport(reader, value, host, TOPOLOGY_EXEC) < 0)
		return -1;
	return reader_list(reader, field->name, value, &host->exec, &host->exec_count);
}

static int read_local(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	bool yes = false;

	if (reader_bool(reader, field, value, &yes) < 0)
		return -1;
	return yes ? set_transport(reader, value, target, TOPOLOGY_LOCAL) : 0;
}

static int read_passive(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	bool yes = false;

	if (reader_bool(reader, field, value, &yes) < 0)
		return -1;
	return yes ? set_transport(reader, value, target, TOPOLOGY_PASSIVE) : 0;
}

static const struct field firmware_fields[] = {
	{"command", reader_string, offsetof(struct topology_host, firmware_command)},
};
static const struct field_table firmware_table = FIELD_TABLE(firmware_fields);

static int read_firmware(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	return reader_mapping(reader, value, field->name, &firmware_table, target);
}

/* {netperf: /path/netperf} */
static int read_tools(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_host *host = target;
	const struct node *entry;

	if (value->kind != NODE_MAPPING)
		return reader_fail(reader, value->mark, "tools must be a mapping {TOOL: PATH}");
	host->tool_names = calloc(value->count + 1, sizeof(char *));
	host->tool_paths = calloc(value->count + 1, sizeof(char *));
	if (!host->tool_names || !host->tool_paths)
		return reader_out_of_memory(reader);
	for (entry = value->first; entry; entry = entry->next) {
		if (reader_check_name(reader, entry->key_mark, "a tool", entry->key) < 0 ||
			reader_string(reader, field, entry, &host->tool_paths[host->tool_count]) <
				0)
			return -1;
		host->tool_names[host->tool_count] = strdup(entry->key);
		if (!host->tool_names[host->tool_count++])
			return reader_out_of_memory(reader);
	}
	return 0;
}

static int read_bridge(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_host_lab *lab = target;

	if (value->kind == NODE_SEQUENCE)
		return reader_list(reader, field->name, value, &lab->bridge, &lab->bridge_count);
	if (value->kind == NODE_SCALAR &&
		(strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0))
		return reader_bool(reader, field, value, &lab->bridge_all);
	return reader_fail(
		reader, value->mark, "bridge must be true or a list of interfaces: [eth1, wlan0]");
}

static int read_control(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	return read_client(reader, field, value, target);
}

static const struct reader_choice controls[] = {{"proxy", 0}, {"inband", 1}, {NULL, 0}};

#define LAB(member) offsetof(struct topology_host_lab, member)

static const struct field lab_fields[] = {
	{"forward_limit", reader_rate, LAB(forward_limit), 1000, 1000000000000},
	{"nat", reader_bool, LAB(nat)},
	{"cpu", reader_share, LAB(cpu), 1, 100},
	{"bridge", read_bridge},
	{"control", read_control, LAB(inband), .choices = controls},
};
static const struct field_table lab_table = FIELD_TABLE(lab_fields);

static int read_lab(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	if (!reader->topology->lab)
		return reader_fail(reader, value->key_mark,
			"lab keys of a host need \"lab: {}\" on the topology");
	return reader_mapping(reader, value, field->name, &lab_table, target);
}

#define HOST(member) offsetof(struct topology_host, member)

static const struct field host_fields[] = {
	{"ssh", read_ssh},
	{"exec", read_exec},
	{"local", read_local},
	{"passive", read_passive},
	{"dut", reader_bool, HOST(dut)},
	{"firmware", read_firmware},
	{"tmp", reader_string, HOST(tmp)},
	{"agent", reader_string, HOST(agent)},
	{"sudo", reader_bool, HOST(sudo)},
	{"tools", read_tools},
	{"lab", read_lab, HOST(lab)},
};
static const struct field_table host_table = FIELD_TABLE(host_fields);

static struct topology_host *new_host(
	struct reader *reader, const char *name, struct topology_mark mark)
{
	struct topology_host *host = &reader->topology->hosts[reader->topology->host_count];

	host->name = strdup(name);
	if (!host->name) {
		reader_out_of_memory(reader);
		return NULL;
	}
	host->mark = mark;
	host->transport = TOPOLOGY_NONE;
	host->ssh.port = 22;
	reader->topology->host_count++;
	return host;
}

size_t hosts_imply(struct reader *reader, const char *name, struct topology_mark mark)
{
	if (reader_check_name(reader, mark, "a host", name) < 0 || !new_host(reader, name, mark))
		return TOPOLOGY_NO_HOST;
	return reader->topology->host_count - 1;
}

int hosts_read(struct reader *reader, const struct node *hosts, size_t link_count)
{
	const struct node *entry;
	char what[96];

	if (hosts && (hosts->kind != NODE_MAPPING || hosts->count == 0))
		return reader_fail(reader, hosts->mark, "hosts must be a mapping {NAME: {...}}");
	reader->topology->hosts = calloc(
		(hosts ? hosts->count : 0) + 2 * link_count + 1, sizeof(struct topology_host));
	if (!reader->topology->hosts)
		return reader_out_of_memory(reader);
	for (entry = hosts ? hosts->first : NULL; entry; entry = entry->next) {
		struct topology_host *host;

		if (reader_check_name(reader, entry->key_mark, "a host", entry->key) < 0)
			return -1;
		host = new_host(reader, entry->key, entry->key_mark);
		snprintf(what, sizeof(what), "host \"%.64s\"", entry->key);
		if (!host || reader_mapping(reader, entry, what, &host_table, host) < 0)
			return -1;
	}
	return 0;
}

int hosts_check(struct reader *reader)
{
	const struct topology *topology = reader->topology;
	char near[SUGGEST_TEXT_MAX];
	size_t i;

	for (i = 0; i < topology->host_count; i++) {
		const struct topology_host *host = &topology->hosts[i];
		const char *via = host->ssh.via;

		if (host->transport == TOPOLOGY_NONE && !topology->lab &&
			reader->mode == TOPOLOGY_FILE)
			return reader_fail(reader, host->mark,
				"host \"%s\" needs one of ssh, exec, local or passive", host->name);
		if (via && strcmp(via, host->name) == 0)
			return reader_fail(
				reader, host->mark, "host \"%s\" goes via itself", host->name);
		if (via && topology_find_host(topology, via) == TOPOLOGY_NO_HOST)
			return reader_fail(reader, host->mark,
				"host \"%s\" goes via unknown host \"%.64s\"%s", host->name, via,
				parts_suggest_host(topology, via, near, sizeof(near)));
	}
	return 0;
}
