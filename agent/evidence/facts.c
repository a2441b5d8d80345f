/* What is read as it stands at the end: link facts, conntrack, temperature and clock. */
#include <string.h>

#include "agent.h"
#include "files.h"
#include "link.h"
#include "source.h"

enum {
	ZONES_MAX = 32,
	CORES_MAX = 64,
};

/* Lines are "wlan0: status quality level noise ...", numbers ending with a point. The radio's rate
 * is not among them; it takes nl80211. */
static void say_signal(struct wire_writer *writer, const char *root, const char *interface)
{
	char path[FILES_PATH_MAX], text[4096];
	char *rest = text;
	size_t length = strlen(interface);

	if (!files_join(path, sizeof(path), root, "/proc/net/wireless", NULL) ||
		files_read(path, text, sizeof(text)) <= 0)
		return;
	for (char *line = files_next_line(&rest); line; line = files_next_line(&rest)) {
		char *name = files_next_word(&line);
		int64_t level;

		if (!name || strlen(name) != length + 1 || name[length] != ':' ||
			strncmp(name, interface, length) != 0)
			continue;
		files_next_word(&line);
		files_next_word(&line);
		const char *at = files_next_word(&line);

		/* Drivers without dBm tell a share of some maximum, above 0. */
		if (at && files_parse_number(&at, &level) && level < 0)
			wire_writer_number(writer, "signal_dbm", level);
	}
}

static void say_links(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	(void)before;
	(void)now;
	for (size_t i = 0; i < scope->interface_count; i++) {
		const char *interface = scope->interfaces[i];
		int64_t number;

		if (!link_has(scope->root, interface, ""))
			continue;
		struct wire_writer *writer = agent_begin(agent, id, "link");

		wire_writer_text(writer, "interface", interface);
		if (link_has(scope->root, interface, "/device") &&
			!link_has(scope->root, interface, "/phy80211"))
			link_say_speed(writer, scope->root, interface);
		/* Reading the carrier of a link that is down fails. */
		if (link_read_number(scope->root, interface, "/carrier", &number))
			wire_writer_number(writer, "carrier", number);
		if (link_read_number(scope->root, interface, "/mtu", &number))
			wire_writer_number(writer, "mtu", number);
		say_signal(writer, scope->root, interface);
		agent_end(agent);
	}
}

const struct evidence_source source_links = {.say = say_links};

static void say_conntrack(const char *root, struct agent *agent, uint32_t id)
{
	char path[FILES_PATH_MAX];
	int64_t count, most;

	if (!files_join(
		    path, sizeof(path), root, "/proc/sys/net/netfilter/nf_conntrack_count", NULL) ||
		!files_read_number(path, &count))
		return;
	struct wire_writer *writer = agent_begin(agent, id, "conntrack");

	wire_writer_number(writer, "count", count);
	if (files_join(
		    path, sizeof(path), root, "/proc/sys/net/netfilter/nf_conntrack_max", NULL) &&
		files_read_number(path, &most))
		wire_writer_number(writer, "max", most);
	agent_end(agent);
}

/* Numbered files: the first that is not there ends the list. */
static void say_numbered(const char *root, const char *before, const char *after, int most,
	const char *const keys[3], struct agent *agent, uint32_t id)
{
	for (int i = 0; i < most; i++) {
		char path[FILES_PATH_MAX];
		char digits[3] = {(char)('0' + i % 10)};
		int64_t number;

		if (i >= 10) {
			digits[0] = (char)('0' + i / 10);
			digits[1] = (char)('0' + i % 10);
		}
		if (!files_join(path, sizeof(path), root, before, digits, after, NULL) ||
			!files_exist(path))
			return;
		if (!files_read_number(path, &number))
			continue;
		struct wire_writer *writer = agent_begin(agent, id, keys[0]);

		wire_writer_number(writer, keys[1], i);
		wire_writer_number(writer, keys[2], number);
		agent_end(agent);
	}
}

static void say_host(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	static const char *const thermal[3] = {"thermal", "zone", "millidegrees"};
	static const char *const clock[3] = {"clock", "core", "khz"};

	(void)before;
	(void)now;
	say_conntrack(scope->root, agent, id);
	say_numbered(scope->root, "/sys/class/thermal/thermal_zone", "/temp", ZONES_MAX, thermal,
		agent, id);
	say_numbered(scope->root, "/sys/devices/system/cpu/cpu", "/cpufreq/scaling_cur_freq",
		CORES_MAX, clock, agent, id);
}

const struct evidence_source source_host = {.say = say_host};
