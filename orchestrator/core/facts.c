#include "facts.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_MAX 4096 /* interfaces, and addresses, that are kept of one host */

static int bad(
	const struct wire_record *record, const char *key, const char *why, struct error *err)
{
	return error_set(err, ERROR_HOST, NULL, "the agent's %.20s record is broken: %s %s",
		record->type, key, why);
}

/*
 * Copies a text, cut to size; what could move a terminal's cursor becomes '?'. An absent key leaves
 * the target empty.
 */
static void copy_text(const struct wire_record *record, const char *key, char *target, size_t size)
{
	const char *value = wire_record_text(record, key);
	size_t i;

	for (i = 0; value && value[i] != '\0' && i + 1 < size; i++) {
		unsigned char byte = (unsigned char)value[i];

		target[i] = byte < ' ' || byte == 0x7f ? '?' : value[i];
	}
	target[i] = '\0';
}

/* An interface's name; empty when absent. Slashes and blanks cannot be in one. */
static int copy_name(const struct wire_record *record, const char *key, bool needed,
	char target[IFNAMSIZ], struct error *err)
{
	const char *value = wire_record_text(record, key);
	size_t i;

	if (!value || value[0] == '\0')
		return needed ? bad(record, key, "is missing", err) : 0;
	if (strlen(value) >= IFNAMSIZ)
		return bad(record, key, "is too long", err);
	for (i = 0; value[i]; i++) {
		if (value[i] <= ' ' || value[i] == 0x7f || value[i] == '/')
			return bad(record, key, "is no interface's name", err);
	}
	strcpy(target, value);
	return 0;
}

/* A number in its range; an absent key gives fallback. */
static int copy_number(const struct wire_record *record, const char *key, int fallback, int high,
	int *ret, struct error *err)
{
	int64_t number = fallback;
	int result = wire_record_number(record, key, &number);

	if (result < 0 && wire_record_field(record, key))
		return bad(record, key, "is not a number", err);
	if (result < 0)
		number = fallback;
	if (number < -1 || number > high)
		return bad(record, key, "is out of range", err);
	*ret = (int)number;
	return 0;
}

static int add_host(struct facts *facts, const struct wire_record *record, struct error *err)
{
	copy_text(record, "arch", facts->arch, sizeof(facts->arch));
	copy_text(record, "kernel", facts->kernel, sizeof(facts->kernel));
	copy_text(record, "firmware", facts->firmware, sizeof(facts->firmware));
	copy_text(record, "boot_id", facts->boot_id, sizeof(facts->boot_id));
	if (copy_number(record, "cpus", 1, 65536, &facts->cpus, err) < 0 ||
		copy_number(record, "ticks", 100, 1000000, &facts->ticks, err) < 0)
		return -1;
	return copy_number(record, "uid", -1, INT32_MAX, &facts->uid, err);
}

/* Room for one more element, doubling; capacity follows from the count. */
static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? count * 2 : 1, size);
}

static int add_interface(struct facts *facts, const struct wire_record *record, struct error *err)
{
	struct facts_interface item = {.speed_mbit = -1};
	struct facts_interface *grown;
	int carrier = 0;

	if (copy_name(record, "name", true, item.name, err) < 0 ||
		copy_name(record, "master", false, item.master, err) < 0 ||
		copy_number(record, "index", 0, INT32_MAX, &item.index, err) < 0 ||
		copy_number(record, "mtu", 0, INT32_MAX, &item.mtu, err) < 0 ||
		copy_number(record, "speed_mbit", -1, 10000000, &item.speed_mbit, err) < 0 ||
		copy_number(record, "carrier", 0, 1, &carrier, err) < 0)
		return -1;
	copy_text(record, "kind", item.kind, sizeof(item.kind));
	copy_text(record, "duplex", item.duplex, sizeof(item.duplex));
	item.carrier = carrier == 1;
	if (facts_find_interface(facts, item.name))
		return bad(record, "name", "is there twice", err);
	if (facts->interface_count == FACTS_MAX)
		return error_set(
			err, ERROR_HOST, NULL, "the host has over %d interfaces", FACTS_MAX);
	grown = grow(facts->interfaces, facts->interface_count, sizeof(item));
	if (!grown)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	facts->interfaces = grown;
	facts->interfaces[facts->interface_count++] = item;
	return 0;
}

/* Does word stand in a comma list? */
static bool has_flag(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (list && *list) {
		size_t part = strcspn(list, ",");

		if (part == length && memcmp(list, word, length) == 0)
			return true;
		list += part + (list[part] == ',');
	}
	return false;
}

static int parse_address(
	const struct wire_record *record, struct facts_address *address, struct error *err)
{
	unsigned char bytes[16];
	int high = address->family == 4 ? 32 : 128;

	if (address->family != 4 && address->family != 6)
		return bad(record, "family", "is neither 4 nor 6", err);
	if (inet_pton(address->family == 4 ? AF_INET : AF_INET6, address->address, bytes) != 1)
		return bad(record, "address", "is not an address of its family", err);
	if (copy_number(record, "prefix", -1, high, &address->prefix, err) < 0)
		return -1;
	return address->prefix < 0 ? bad(record, "prefix", "is missing", err) : 0;
}

static int add_address(struct facts *facts, const struct wire_record *record, struct error *err)
{
	const char *scope = wire_record_text(record, "scope");
	const char *flags = wire_record_text(record, "flags");
	struct facts_address item = {0};
	struct facts_address *grown;

	copy_text(record, "address", item.address, sizeof(item.address));
	if (copy_name(record, "interface", true, item.interface, err) < 0 ||
		copy_name(record, "label", false, item.label, err) < 0 ||
		copy_number(record, "family", 0, 6, &item.family, err) < 0 ||
		parse_address(record, &item, err) < 0)
		return -1;
	item.link_local = scope && strcmp(scope, "link") == 0;
	item.deprecated = has_flag(flags, "deprecated");
	item.temporary = has_flag(flags, "temporary");
	item.tentative = has_flag(flags, "tentative");
	if (facts->address_count == FACTS_MAX)
		return error_set(
			err, ERROR_HOST, NULL, "the host has over %d addresses", FACTS_MAX);
	grown = grow(facts->addresses, facts->address_count, sizeof(item));
	if (!grown)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	facts->addresses = grown;
	facts->addresses[facts->address_count++] = item;
	return 0;
}

static const struct {
	const char *type;
	int (*add)(struct facts *facts, const struct wire_record *record, struct error *err);
} records[] = {
	{"host", add_host},
	{"interface", add_interface},
	{"address", add_address},
};

int facts_add(struct facts *facts, const struct wire_record *record, struct error *err)
{
	size_t i;

	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		if (strcmp(records[i].type, record->type) == 0)
			return records[i].add(facts, record, err);
	}
	return 0;
}

void facts_finish(struct facts *facts)
{
	free(facts->interfaces);
	free(facts->addresses);
	memset(facts, 0, sizeof(*facts));
}

const struct facts_interface *facts_find_interface(const struct facts *facts, const char *name)
{
	size_t i;

	for (i = 0; i < facts->interface_count; i++) {
		if (strcmp(facts->interfaces[i].name, name) == 0)
			return &facts->interfaces[i];
	}
	return NULL;
}
