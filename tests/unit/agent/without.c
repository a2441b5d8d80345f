/*
 * Runs a command on a kernel that lacks something, for tests of fallbacks:
 *     without memfd|sendfile|pidfd|trunc COMMAND...
 * A seccomp filter answers for the kernel. Exits 77 where filters cannot be had.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)
#define ANSWER(value)       BPF_STMT(BPF_RET | BPF_K, (uint32_t)(value))

static int install(struct sock_filter *rules, size_t count)
{
	struct sock_fprog program = {.len = (unsigned short)count, .filter = rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The call itself is not there. */
static int forbid(long number, int failure)
{
	struct sock_filter rules[] = {
		LOAD(nr),
		UNLESS(number, 1),
		ANSWER(SECCOMP_RET_ERRNO | (uint32_t)failure),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	return install(rules, sizeof(rules) / sizeof(rules[0]));
}

/* recv() without a buffer is an error. (The lower half of the pointer will do.) */
static int forbid_trunc(void)
{
	struct sock_filter rules[] = {
		LOAD(nr),
		UNLESS(SYS_recvfrom, 3),
		LOAD(args[1]),
		UNLESS(0, 1),
		ANSWER(SECCOMP_RET_ERRNO | EFAULT),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	return install(rules, sizeof(rules) / sizeof(rules[0]));
}

int main(int count, char **words)
{
	int result = -1;

	if (count < 3)
		return 2;
	if (strcmp(words[1], "memfd") == 0)
		result = forbid(SYS_memfd_create, ENOSYS);
	else if (strcmp(words[1], "sendfile") == 0)
		result = forbid(SYS_sendfile, EINVAL);
	else if (strcmp(words[1], "pidfd") == 0)
		result = forbid(SYS_pidfd_open, ENOSYS);
	else if (strcmp(words[1], "trunc") == 0)
		result = forbid_trunc();
	if (result < 0) {
		perror(words[1]);
		return 77;
	}
	execv(words[2], words + 2);
	perror(words[2]);
	return 2;
}
