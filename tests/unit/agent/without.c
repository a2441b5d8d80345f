/*
 * Runs a command on a kernel that lacks something, for tests of fallbacks:
 *     without WHAT COMMAND...
 * A seccomp filter answers for the kernel. Exits 77 where filters cannot be had.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

/* One value of one argument is an error: a command of fcntl, an option of setsockopt. */
static int forbid_argument(long number, uint32_t offset, int value, int failure)
{
	struct sock_filter rules[] = {
		LOAD(nr),
		UNLESS(number, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
		UNLESS(value, 1),
		ANSWER(SECCOMP_RET_ERRNO | (uint32_t)failure),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	return install(rules, sizeof(rules) / sizeof(rules[0]));
}

static int forbid_memfd(void)
{
	return forbid(SYS_memfd_create, ENOSYS);
}

static int forbid_sendfile(void)
{
	return forbid(SYS_sendfile, EINVAL);
}

static int forbid_pipe(void)
{
	return forbid(SYS_pipe2, EMFILE);
}

/* pipe-max-size, or pipe-user-pages-soft, is used up. */
static int forbid_pipe_size(void)
{
	return forbid_argument(
		SYS_fcntl, offsetof(struct seccomp_data, args[1]), F_SETPIPE_SZ, EPERM);
}

static int forbid_vmsplice(void)
{
	return forbid(SYS_vmsplice, ENOSYS);
}

static int forbid_splice(void)
{
	return forbid(SYS_splice, EINVAL);
}

static int forbid_mark(void)
{
	return forbid_argument(
		SYS_setsockopt, offsetof(struct seccomp_data, args[2]), SO_RCVLOWAT, ENOPROTOOPT);
}

static int forbid_pidfd(void)
{
	return forbid(SYS_pidfd_open, ENOSYS);
}

static const struct {
	const char *what;
	int (*forbid)(void);
} lacks[] = {{"memfd", forbid_memfd}, {"sendfile", forbid_sendfile}, {"pipe", forbid_pipe},
	{"pipe-size", forbid_pipe_size}, {"vmsplice", forbid_vmsplice}, {"splice", forbid_splice},
	{"trunc", forbid_trunc}, {"mark", forbid_mark}, {"pidfd", forbid_pidfd}};

int main(int count, char **words)
{
	int result = -1;

	if (count < 3)
		return 2;
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		if (strcmp(words[1], lacks[i].what) == 0)
			result = lacks[i].forbid();
	}
	if (result < 0) {
		perror(words[1]);
		return 77;
	}
	execv(words[2], words + 2);
	perror(words[2]);
	return 2;
}
