#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define NUMBER_MAX 1e18

double json_number(const struct cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (cJSON_IsNumber(item))
		return item->valuedouble;
	if (cJSON_IsString(item) && item->valuestring[0] && strlen(item->valuestring) <= 20 &&
		item->valuestring[strspn(item->valuestring, "0123456789")] == '\0')
		return strtod(item->valuestring, NULL);
	return NAN;
}

const char *json_text(const struct cJSON *object, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

bool json_set(struct cJSON *object, const char *key, struct cJSON *item)
{
	bool done;

	if (!item)
		return false;
	if (cJSON_GetObjectItemCaseSensitive(object, key))
		done = cJSON_ReplaceItemInObjectCaseSensitive(object, key, item);
	else
		done = cJSON_AddItemToObject(object, key, item);
	if (!done)
		cJSON_Delete(item);
	return done;
}

void json_add_number(struct cJSON *object, const char *key, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

void json_add_text(struct cJSON *object, const char *key, const char *text)
{
	if (text && text[0])
		cJSON_AddStringToObject(object, key, text);
	else
		cJSON_AddNullToObject(object, key);
}

/* The shortest text that reads back as value. */
static void print_number(double value, char *buffer, size_t size)
{
	int digits;
	char *c;

	if (value <= 1e17 && value >= -1e17 && !(value < floor(value)) && !(value > floor(value))) {
		snprintf(buffer, size, "%.0f", value);
		return;
	}
	for (digits = 15; digits <= 17; digits++) {
		double back;

		snprintf(buffer, size, "%.*g", digits, value);
		back = strtod(buffer, NULL);
		if (!(back < value) && !(back > value))
			break;
	}
	/* Some locales write another decimal point. */
	for (c = buffer; *c; c++)
		if (!strchr("0123456789+-e", *c))
			*c = '.';
}

/* cJSON prints 15 digits of an integer from 1e15 up and compares fractions only roughly. */
static bool make_exact(cJSON *item)
{
	cJSON *child;
	char text[40];

	if (cJSON_IsNumber(item) && isfinite(item->valuedouble) &&
		(item->valuedouble < item->valueint || item->valuedouble > item->valueint)) {
		print_number(item->valuedouble, text, sizeof(text));
		item->valuestring = cJSON_malloc(strlen(text) + 1);
		if (!item->valuestring)
			return false;
		strcpy(item->valuestring, text);
		item->type = cJSON_Raw;
	}
	cJSON_ArrayForEach (child, item)
		if (!make_exact(child))
			return false;
	return true;
}

char *json_line(const struct cJSON *item)
{
	cJSON *copy = cJSON_Duplicate(item, true);
	char *text = NULL;

	if (copy && make_exact(copy))
		text = cJSON_PrintUnformatted(copy);
	cJSON_Delete(copy);
	return text;
}

bool json_has_absurd_number(const struct cJSON *item, const char **ret_key)
{
	const cJSON *child;

	if (cJSON_IsNumber(item) && !(fabs(item->valuedouble) <= NUMBER_MAX)) {
		*ret_key = item->string ? item->string : "a list";
		return true;
	}
	cJSON_ArrayForEach (child, item)
		if (json_has_absurd_number(child, ret_key))
			return true;
	return false;
}

size_t json_depth(const char *text, size_t length)
{
	size_t depth = 0, deepest = 0, i;
	bool quoted = false;

	for (i = 0; i < length; i++) {
		char c = text[i];

		if (quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '{' || c == '[') {
			if (++depth > deepest)
				deepest = depth;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		}
	}
	return deepest;
}
