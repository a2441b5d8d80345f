#include "trial_options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECONDS_MAX (24 * 3600 * 1000)

enum { REQUIRED = 1, OF_LISTEN = 2, OF_CONNECT = 4 };

static const struct {
	const char *key;
	size_t offset;
	int64_t standard, least, most;
	int needs;
	const char *wrong;
} numbers[] = {
#define NUMBER(key, standard, least, most, needs)                                                  \
	{                                                                                          \
#key, offsetof(struct trial_options, key), standard, least, most, needs,           \
			#key "= is missing or not a number of " #least ".." #most                  \
	}
	NUMBER(streams, 0, 1, 64, REQUIRED),
	NUMBER(duration_ms, 0, 0, MILLISECONDS_MAX, REQUIRED),
	NUMBER(omit_ms, 0, 0, MILLISECONDS_MAX, REQUIRED),
	NUMBER(interval_ms, 0, 0, MILLISECONDS_MAX, REQUIRED),
	NUMBER(setup_ms, 0, 1, MILLISECONDS_MAX, REQUIRED),
	NUMBER(stall_ms, 0, 1, MILLISECONDS_MAX, REQUIRED),
	NUMBER(port, 0, 0, 65535, OF_LISTEN),
	NUMBER(port_last, 0, 0, 65535, OF_LISTEN),
	NUMBER(to_port, 0, 1, 65535, OF_CONNECT | REQUIRED),
	NUMBER(block, TRIAL_UNSET, 1, 16777216, 0),
	NUMBER(window, TRIAL_UNSET, 1, 1073741824, 0),
	NUMBER(mss, TRIAL_UNSET, 48, 65535, 0),
	NUMBER(dscp, TRIAL_UNSET, 0, 63, 0),
	NUMBER(pacing, TRIAL_UNSET, 512, 1000000000000, 0),
	NUMBER(nodelay, TRIAL_UNSET, 0, 1, 0),
	NUMBER(bytes, TRIAL_UNSET, 1, 1000000000000000, 0),
#undef NUMBER
};

static const char *read_numbers(const struct wire_record *request, struct trial_options *options)
{
	int other_end = options->listens ? OF_CONNECT : OF_LISTEN;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int64_t number = numbers[i].standard;

		if (numbers[i].needs & other_end)
			continue;
		int result = wire_record_number(request, numbers[i].key, &number);
		bool absent = result == -ENOENT && !(numbers[i].needs & REQUIRED);

		if (!absent &&
			(result < 0 || number < numbers[i].least || number > numbers[i].most))
			return numbers[i].wrong;
		memcpy((char *)options + numbers[i].offset, &number, sizeof(number));
	}
	return NULL;
}

static bool read_token(const char *text, unsigned char *token)
{
	if (!text || strlen(text) != 2 * TRIAL_TOKEN_SIZE ||
		strspn(text, "0123456789abcdefABCDEF") != 2 * TRIAL_TOKEN_SIZE)
		return false;
	for (size_t i = 0; i < TRIAL_TOKEN_SIZE; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

		token[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return true;
}

/* A link-local address needs a scope: its own (%eth0), or that of the device. */
static unsigned int scope_of(const char *scope, const struct trial_options *options)
{
	if (scope)
		return if_nametoindex(scope);
	return options->interface[0] ? if_nametoindex(options->interface) : 0;
}

static bool read_address(const char *text, uint16_t port, const struct trial_options *options,
	struct sockaddr_storage *ret)
{
	char plain[INET6_ADDRSTRLEN];
	size_t length = text ? strcspn(text, "%") : 0;

	if (length == 0 || length >= sizeof(plain))
		return false;
	memcpy(plain, text, length);
	plain[length] = '\0';
	const char *scope = text[length] ? text + length + 1 : NULL;

	if (options->family == AF_INET) {
		struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

		if (scope || inet_pton(AF_INET, plain, &address.sin_addr) != 1)
			return false;
		memcpy(ret, &address, sizeof(address));
		return true;
	}
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	if (inet_pton(AF_INET6, plain, &address.sin6_addr) != 1)
		return false;
	if (scope || IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr))
		address.sin6_scope_id = scope_of(scope, options);
	memcpy(ret, &address, sizeof(address));
	return !scope || address.sin6_scope_id != 0;
}

static bool read_name(const struct wire_record *request, const char *key, char *name, size_t size)
{
	const struct wire_field *field = wire_record_field(request, key);

	if (!field)
		return true;
	if (field->length >= size || strlen(field->value) != field->length)
		return false;
	memcpy(name, field->value, field->length + 1);
	return true;
}

static const char *read_role(const struct wire_record *request, struct trial_options *options)
{
	const char *role = wire_record_text(request, "role");
	bool both = role && strcmp(role, "both") == 0;

	options->sends = both || (role && strcmp(role, "send") == 0);
	options->receives = both || (role && strcmp(role, "receive") == 0);
	options->connections = options->streams * (both ? 2 : 1);
	return options->sends || options->receives ? NULL : "role= must be send, receive or both";
}

const char *trial_options_read_method(
	const struct wire_record *request, struct trial_options *options)
{
	static const struct {
		const char *name;
		enum trial_method method;
		bool sends;
	} methods[] = {{"splice", TRIAL_SPLICE, true}, {"sendfile", TRIAL_SENDFILE, true},
		{"write", TRIAL_WRITE, true}, {"recv_trunc", TRIAL_RECV_TRUNC, false},
		{"recv", TRIAL_RECV, false}};
	const char *name = wire_record_text(request, "method");

	for (size_t i = 0; name && i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].name, name) != 0)
			continue;
		options->method = methods[i].method;
		return (methods[i].sends ? options->sends : options->receives)
			       ? NULL
			       : "method= is none of this end's role";
	}
	return name ? "method= must be splice, sendfile, write, recv_trunc or recv" : NULL;
}

static const char *read_ends(const struct wire_record *request, struct trial_options *options)
{
	int64_t family;

	if (!read_token(wire_record_text(request, "token"), options->token))
		return "token= must be 32 hexadecimal digits";
	if (wire_record_number(request, "family", &family) < 0 || (family != 4 && family != 6))
		return "family= must be 4 or 6";
	options->family = family == 4 ? AF_INET : AF_INET6;
	options->address_size =
		family == 4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	if (!read_name(request, "interface", options->interface, sizeof(options->interface)))
		return "interface= is not a device's name";
	if (!read_name(request, "congestion", options->congestion, sizeof(options->congestion)))
		return "congestion= is not a name";
	if (!read_address(wire_record_text(request, "address"), 0, options, &options->local))
		return "address= is not a local address of that family";
	if (!options->listens && !read_address(wire_record_text(request, "to"),
					 (uint16_t)options->to_port, options, &options->peer))
		return "to= is not an address of that family";
	return NULL;
}

/* What no single key says. */
static const char *check_combination(const struct trial_options *options)
{
	bool counts = options->bytes != TRIAL_UNSET;

	if (options->omit_ms > 0 && options->omit_ms >= options->duration_ms)
		return "omit_ms= must be below duration_ms";
	if (options->interval_ms > 0 &&
		options->duration_ms / options->interval_ms >= TRIAL_INTERVALS_MAX)
		return "interval_ms= is too short: at most 4096 intervals";
	if (counts && options->duration_ms == 0)
		return "bytes= needs duration_ms as its upper bound";
	if (counts && options->omit_ms > 0)
		return "bytes= counts from the first byte: omit_ms must be 0";
	if (counts && options->bytes < options->streams)
		return "bytes= must be at least one a stream";
	if (options->port_last < options->port)
		return "port_last= must not be below port=";
	return NULL;
}

const char *trial_options_read(
	const struct wire_record *request, bool listens, struct trial_options *ret)
{
	struct trial_options options = {.listens = listens};
	const char *wrong = read_numbers(request, &options);

	if (!wrong)
		wrong = read_role(request, &options);
	if (!wrong)
		wrong = read_ends(request, &options);
	if (options.port_last == 0)
		options.port_last = options.port;
	if (!wrong)
		wrong = check_combination(&options);
	if (!wrong)
		*ret = options;
	return wrong;
}
