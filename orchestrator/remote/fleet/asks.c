#include "asks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct ask ask;
	char type[32];
	bool sent, released;
	size_t seen, bytes, capacity;
};

static struct entry *entry_of(struct ask *ask)
{
	return (struct entry *)(void *)ask;
}

static struct ask *find(const struct asks *asks, uint32_t id)
{
	struct ask *ask = asks->head;

	while (ask && ask->id != id)
		ask = ask->next;
	return ask;
}

static void unlink_ask(struct asks *asks, struct ask *ask)
{
	for (struct ask **link = &asks->head; *link; link = &(*link)->next) {
		if (*link == ask) {
			*link = ask->next;
			ask->next = NULL;
			return;
		}
	}
}

/* Records are made here and only lent as const. */
static void free_record(const struct wire_record *record)
{
	union {
		const struct wire_record *lent;
		void *made;
	} both = {record};

	free(both.made);
}

static void free_records(struct ask *ask)
{
	for (size_t i = 0; i < ask->record_count; i++)
		free_record(ask->records[i]);
	free(ask->records);
	free_record(ask->final);
	ask->records = NULL;
	ask->final = NULL;
	ask->record_count = 0;
}

static void free_entry(struct ask *ask)
{
	free_records(ask);
	free(ask);
}

struct ask *asks_add(struct asks *asks, const char *type)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	do {
		asks->last_id++;
	} while (asks->last_id == 0 || find(asks, asks->last_id));
	entry->ask.id = asks->last_id;
	snprintf(entry->type, sizeof(entry->type), "%s", type);
	entry->ask.next = asks->head;
	asks->head = &entry->ask;
	asks->waiting++;
	return &entry->ask;
}

void asks_sent(struct ask *ask)
{
	entry_of(ask)->sent = true;
}

bool asks_was_sent(const struct ask *ask)
{
	return ((const struct entry *)(const void *)ask)->sent;
}

void asks_release(struct asks *asks, struct ask *ask)
{
	struct entry *entry = entry_of(ask);

	if (ask->done) { /* unlinked when it was answered */
		free_entry(ask);
		return;
	}
	asks->waiting--;
	if (!entry->sent) {
		unlink_ask(asks, ask);
		free_entry(ask);
		return;
	}
	entry->released = true;
	free_records(ask);
}

/* One block: the record with just its fields, then its strings. */
static struct wire_record *copy_record(const struct wire_record *record, size_t *ret_size)
{
	size_t head = offsetof(struct wire_record, fields) +
		      record->field_count * sizeof(record->fields[0]);
	size_t strings = strlen(record->type) + 1;
	struct wire_record *copy;
	char *text;

	for (size_t i = 0; i < record->field_count; i++)
		strings += strlen(record->fields[i].key) + 1 + record->fields[i].length + 1;
	*ret_size = head + strings;
	copy = malloc(*ret_size);
	if (!copy)
		return NULL;
	text = (char *)copy + head;
	copy->id = record->id;
	copy->field_count = record->field_count;
	copy->type = text;
	text = stpcpy(text, record->type) + 1;
	for (size_t i = 0; i < record->field_count; i++) {
		const struct wire_field *from = &record->fields[i];

		copy->fields[i].key = text;
		text = stpcpy(text, from->key) + 1;
		copy->fields[i].value = text;
		copy->fields[i].length = from->length;
		memcpy(text, from->value, from->length + 1);
		text += from->length + 1;
	}
	return copy;
}

static bool is_final(const struct wire_record *record)
{
	static const char *const finals[] = {"ok", "error", "unknown"};

	for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++)
		if (strcmp(record->type, finals[i]) == 0)
			return true;
	return false;
}

static void set_outcome(struct ask *ask, const char *host)
{
	const char *request = entry_of(ask)->type;
	const char *code = wire_record_text(ask->final, "code");
	const char *message = wire_record_text(ask->final, "message");

	ask->ok = strcmp(ask->final->type, "ok") == 0;
	if (strcmp(ask->final->type, "unknown") == 0)
		error_set(&ask->error, ERROR_TRIAL, host,
			"its agent does not know the request \"%s\"", request);
	else if (!ask->ok)
		error_set(&ask->error, ERROR_TRIAL, host, "%s: %s (%s)", request,
			message && message[0] ? message : "failed", code ? code : "no code");
}

static int keep(struct ask *ask, const struct wire_record *record, bool final)
{
	struct entry *entry = entry_of(ask);
	size_t size;
	struct wire_record *copy = copy_record(record, &size);

	if (!copy)
		return -1;
	if (final) {
		ask->final = copy;
		return 0;
	}
	if (ask->record_count == entry->capacity) {
		size_t capacity = entry->capacity ? entry->capacity * 2 : 16;
		void *grown = realloc(ask->records, capacity * sizeof(ask->records[0]));

		if (!grown) {
			free(copy);
			return -1;
		}
		ask->records = grown;
		entry->capacity = capacity;
	}
	ask->records[ask->record_count++] = copy;
	entry->bytes += size;
	return 0;
}

int asks_take(
	struct asks *asks, const struct wire_record *record, const char *host, struct error *err)
{
	struct ask *ask = find(asks, record->id);
	bool final = is_final(record);
	struct entry *entry;

	if (!ask || !entry_of(ask)->sent)
		return error_set(err, ERROR_HOST, host,
			"its agent answered a request that nobody made (%u %.30s)", record->id,
			record->type);
	entry = entry_of(ask);
	if (!final && (++entry->seen > ASKS_RECORDS_MAX || entry->bytes > ASKS_BYTES_MAX))
		return error_set(err, ERROR_HOST, host,
			"its agent answered \"%s\" with more than %d records or %u MB", entry->type,
			ASKS_RECORDS_MAX, ASKS_BYTES_MAX >> 20);
	if (!entry->released && keep(ask, record, final) < 0)
		return error_set(err, ERROR_HOST, host, "out of memory for its answers");
	if (!final)
		return 0;
	unlink_ask(asks, ask);
	if (entry->released) {
		free_entry(ask);
		return 0;
	}
	asks->waiting--;
	set_outcome(ask, host);
	ask->done = true;
	return 0;
}

void asks_fail(struct asks *asks, const struct error *cause)
{
	struct ask *ask;

	while ((ask = asks->head)) {
		unlink_ask(asks, ask);
		if (entry_of(ask)->released) {
			free_entry(ask);
			continue;
		}
		ask->error = *cause;
		ask->done = true;
	}
	asks->waiting = 0;
}
