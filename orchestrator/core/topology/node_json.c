#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

/* A JSON number's text, or one that begins with a point; nothing like inf, 0x10 or 1e3. */
static bool looks_decimal(const char *text)
{
	size_t digits;

	if (*text == '-')
		text++;
	digits = strspn(text, "0123456789");
	text += digits;
	if (*text == '.') {
		text++;
		digits = strspn(text, "0123456789");
		text += digits;
	}
	return *text == '\0' && digits > 0;
}

/* NULL when JSON would not give the same text back: the text is then kept as a string. */
static cJSON *number_of(const char *text)
{
	cJSON *number;
	char *printed;

	if (!looks_decimal(text) || strlen(text) > 15)
		return NULL;
	number = cJSON_CreateNumber(strtod(text, NULL));
	if (!number || text[0] == '.')
		return number;
	printed = cJSON_PrintUnformatted(number);
	if (!printed || strcmp(printed, text) != 0) {
		cJSON_Delete(number);
		number = NULL;
	}
	cJSON_free(printed);
	return number;
}

static cJSON *scalar_to_json(const struct node *node)
{
	cJSON *number;

	if (!node->plain)
		return cJSON_CreateString(node->text);
	if (node_is_null(node))
		return cJSON_CreateNull();
	if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)
		return cJSON_CreateBool(node->text[0] == 't');
	number = number_of(node->text);
	return number ? number : cJSON_CreateString(node->text);
}

static cJSON *collection_to_json(const struct node *node)
{
	bool mapping = node->kind == NODE_MAPPING;
	cJSON *json = mapping ? cJSON_CreateObject() : cJSON_CreateArray();
	const struct node *child;

	for (child = node->first; child && json; child = child->next) {
		cJSON *item = node_to_json(child);
		bool added = item && (mapping ? cJSON_AddItemToObject(json, child->key, item)
					      : cJSON_AddItemToArray(json, item));

		if (!added) {
			cJSON_Delete(item);
			cJSON_Delete(json);
			json = NULL;
		}
	}
	return json;
}

struct cJSON *node_to_json(const struct node *node)
{
	return node->kind == NODE_SCALAR ? scalar_to_json(node) : collection_to_json(node);
}
