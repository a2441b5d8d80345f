#include "lab_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LAB_PART_MAX 32

uint64_t lab_names_hash(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

const char *lab_names_part(const char *name, char buffer[static LAB_NAME_SIZE])
{
	size_t length = strlen(name);
	/* A leading dot hides a folder, "." and ".." are none, and the empty name is nothing. */
	bool changed = length == 0 || length > LAB_PART_MAX || name[0] == '.';
	size_t kept = length > LAB_PART_MAX ? LAB_PART_MAX : length;

	for (size_t i = 0; i < kept; i++) {
		bool plain = is_plain(name[i]) && !(i == 0 && name[i] == '.');

		buffer[i] = '-';
		if (plain)
			buffer[i] = name[i];
		else
			changed = true;
	}
	buffer[kept] = '\0';
	if (changed)
		snprintf(buffer + kept, LAB_NAME_SIZE - kept, "-%08" PRIx32,
			(uint32_t)lab_names_hash(name, length));
	return buffer;
}

const char *lab_names_host(const struct topology *topology, const struct topology_host *host,
	char *buffer, size_t size)
{
	char lab[LAB_NAME_SIZE], name[LAB_NAME_SIZE];

	snprintf(buffer, size, LAB_PREFIX "%s-%s", lab_names_part(topology->name, lab),
		lab_names_part(host->name, name));
	return buffer;
}
