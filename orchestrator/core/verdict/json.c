#include <math.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "plan.h"
#include "verdict.h"

static void add_texts(cJSON *object, const char *key, char *const *texts, size_t count)
{
	cJSON *array = cJSON_AddArrayToObject(object, key);
	size_t i;

	for (i = 0; i < count; i++)
		cJSON_AddItemToArray(array, cJSON_CreateString(texts[i]));
}

static cJSON *item_to_json(const struct verdict *verdict)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "path", verdict->path);
	cJSON_AddStringToObject(object, "test", verdict->test);
	cJSON_AddStringToObject(object, "engine", verdict->engine);
	cJSON_AddStringToObject(object, "direction", plan_direction_name(verdict->direction));
	cJSON_AddStringToObject(object, "kind", verdict_kind_name(verdict->kind));
	json_add_text(object, "segment", verdict->segment_count == 1 ? verdict->segments[0] : NULL);
	add_texts(object, "segments", verdict->segments, verdict->segment_count);
	add_texts(object, "hosts", verdict->hosts, verdict->host_count);
	json_add_number(object, "confidence", verdict->confidence);
	json_add_text(object, "grade", verdict_grade_name(verdict->grade));
	json_add_text(object, "qualifier", verdict_qualifier_name(verdict->qualifier));
	json_add_text(object, "slowest_segment", verdict->slowest_segment);
	cJSON_AddBoolToObject(object, "paired", verdict->paired);
	add_texts(object, "reasons", verdict->reasons, verdict->reason_count);
	json_add_number(object, "rounds_needed",
		verdict->rounds_needed > 0 ? (double)verdict->rounds_needed : NAN);
	return object;
}

struct cJSON *verdict_to_json(const struct verdicts *verdicts)
{
	cJSON *array = cJSON_CreateArray();
	size_t i;

	for (i = 0; array && i < verdicts->count; i++)
		cJSON_AddItemToArray(array, item_to_json(&verdicts->items[i]));
	return array;
}
