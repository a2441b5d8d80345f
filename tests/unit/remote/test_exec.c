/*
 * The end of a command on the exec transport: only its exit tells, and its exit wakes the loop. Run
 * a second time without pidfd_open(), as on kernels before 5.3.
 */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deadline.h"

#define PATIENCE_MS 20000 /* a lost wake-up costs all of it */

static struct topology_host box = {.name = (char[]){"box"}, .transport = TOPOLOGY_LOCAL};

static struct transport *start(const char *command)
{
	struct error err;
	struct transport *transport = transport_local.create(NULL, &box, &err);

	assert_non_null(transport);
	assert_int_equal(transport_local.start(transport, command, &err), TRANSPORT_DONE);
	return transport;
}

/* As the fleet waits: until a descriptor tells. Fails when none does. */
static void await(const struct transport *transport, int64_t deadline)
{
	struct pollfd fds[TRANSPORT_POLL_MAX];
	size_t count = transport_local.poll(transport, fds);

	assert_true(transport_local.timer(transport) == DEADLINE_NEVER);
	if (poll(fds, count, deadline_timeout(deadline)) <= 0)
		fail_msg("none of %zu descriptors told of it", count);
}

static void read_to_end(struct transport *transport)
{
	int64_t deadline = deadline_now() + PATIENCE_MS;
	char scrap[64];
	ssize_t got;

	while ((got = transport_local.read(transport, scrap, sizeof(scrap))) != 0) {
		assert_true(got > 0 || got == -EAGAIN);
		if (got == -EAGAIN)
			await(transport, deadline);
	}
}

static enum transport_status finish(struct transport *transport, int *ret_status)
{
	const char *errors;
	struct error err;

	return transport_local.finish(transport, ret_status, &errors, &err);
}

static int await_status(struct transport *transport)
{
	int64_t deadline = deadline_now() + PATIENCE_MS;
	enum transport_status status;
	int result = -1;

	while ((status = finish(transport, &result)) == TRANSPORT_AGAIN)
		await(transport, deadline);
	assert_int_equal(status, TRANSPORT_DONE);
	return result;
}

static void an_exit_after_the_output_wakes(void **state)
{
	struct transport *transport = start("exec >&- 2>&-; read -r line; exit 3");
	struct error err;
	int status;

	(void)state;
	read_to_end(transport);
	/* It cannot exit before its input ends. */
	assert_int_equal(finish(transport, &status), TRANSPORT_AGAIN);
	assert_int_equal(transport_local.close_input(transport, &err), TRANSPORT_DONE);
	assert_int_equal(await_status(transport), 3);
	transport_local.destroy(transport);
}

static void an_exit_with_the_output_held_open_wakes(void **state)
{
	struct transport *transport = start("sleep 1000 & read -r line; exit 4");
	struct error err;
	int status;

	(void)state;
	assert_int_equal(finish(transport, &status), TRANSPORT_AGAIN);
	assert_int_equal(transport_local.close_input(transport, &err), TRANSPORT_DONE);
	assert_int_equal(await_status(transport), 4);
	transport_local.destroy(transport);
}

static void a_signal_is_told_as_one(void **state)
{
	struct transport *transport = start("kill -TERM $$");

	(void)state;
	read_to_end(transport);
	assert_int_equal(await_status(transport), 128 + SIGTERM);
	transport_local.destroy(transport);
}

/* Each must know its own end, and the next command must not hear of the one before. */
static void two_at_once_and_one_after_the_other(void **state)
{
	struct transport *first = start("exec >&- 2>&-; read -r line; exit 5");
	struct transport *second = start("exec >&- 2>&-; read -r line; exit 6");
	struct error err;
	int status;

	(void)state;
	assert_int_equal(finish(first, &status), TRANSPORT_AGAIN);
	assert_int_equal(finish(second, &status), TRANSPORT_AGAIN);
	transport_local.close_input(second, &err);
	assert_int_equal(await_status(second), 6);
	assert_int_equal(finish(first, &status), TRANSPORT_AGAIN);
	assert_int_equal(
		transport_local.start(second, "read -r line; exit 7", &err), TRANSPORT_DONE);
	assert_int_equal(finish(second, &status), TRANSPORT_AGAIN);
	transport_local.close_input(first, &err);
	assert_int_equal(await_status(first), 5);
	assert_int_equal(finish(second, &status), TRANSPORT_AGAIN);
	transport_local.close_input(second, &err);
	assert_int_equal(await_status(second), 7);
	transport_local.destroy(first);
	transport_local.destroy(second);
}

static void one_that_does_not_end_is_abandoned_at_once(void **state)
{
	struct transport *transport = start("trap '' TERM HUP INT; sleep 1000");
	int64_t begin = deadline_now();
	struct error err;

	(void)state;
	assert_int_equal(transport_local.abandon(transport), TRANSPORT_DONE);
	assert_int_equal(transport_local.start(transport, "exit 8", &err), TRANSPORT_DONE);
	assert_int_equal(await_status(transport), 8);
	assert_true(deadline_now() - begin < PATIENCE_MS);
	assert_int_equal(transport_local.start(transport, "sleep 1000", &err), TRANSPORT_DONE);
	transport_local.destroy(transport); /* ends what runs */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exit_after_the_output_wakes),
		cmocka_unit_test(an_exit_with_the_output_held_open_wakes),
		cmocka_unit_test(a_signal_is_told_as_one),
		cmocka_unit_test(two_at_once_and_one_after_the_other),
		cmocka_unit_test(one_that_does_not_end_is_abandoned_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
