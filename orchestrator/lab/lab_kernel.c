#include "lab_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_names.h"
#include "lab_shaping.h"

#define FEATURE_BLOCKS 8 /* of 32 features each; kernels have about 64 */

/* The kernel's names of what ethtool calls tso, gso, gro and tx-udp-segmentation. */
static const char *const offloads[] = {"tx-tcp-segmentation", "tx-tcp-ecn-segmentation",
	"tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation", "tx-tcp-accecn-segmentation",
	"tx-generic-segmentation", "rx-gro", "tx-udp-segmentation"};

struct setting {
	const char *path, *value;
	bool forwarding; /* only where a host is in several subnets */
	bool optional;   /* older or smaller kernels lack it */
};

static const struct setting settings[] = {
	{"net/ipv6/conf/all/disable_ipv6", "0", false, true},
	{"net/ipv6/conf/default/disable_ipv6", "0", false, true},
	{"net/ipv6/conf/all/accept_dad", "0", false, true},
	{"net/ipv6/conf/default/accept_dad", "0", false, true},
	{"net/ipv6/conf/default/accept_ra", "0", false, true},
	{"net/ipv6/conf/all/forwarding", "1", true, true},
	{"net/ipv4/conf/all/rp_filter", "0", false, false},
	{"net/ipv4/conf/default/rp_filter", "0", false, false},
	{"net/ipv4/conf/all/arp_ignore", "1", false, false},
	{"net/ipv4/conf/all/arp_announce", "2", false, false},
	{"net/ipv4/tcp_no_metrics_save", "1", false, true},
	{"net/ipv4/ip_forward", "1", true, false},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Runs in the child; writes what failed to report and returns false. */
typedef bool (*step)(const struct lab_layout *layout, size_t host, FILE *report);

bool lab_kernel_has_ipv6(void)
{
	return !access("/proc/sys/net/ipv6/conf/default", F_OK);
}

static bool complain(FILE *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool complain(FILE *report, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(report, format, arguments);
	va_end(arguments);
	return false;
}

static bool write_setting(const struct setting *setting, FILE *report)
{
	char path[128];
	size_t length = strlen(setting->value);
	int fd, failure = 0;

	snprintf(path, sizeof(path), "/proc/sys/%s", setting->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && setting->optional)
		return true;
	if (fd < 0 || write(fd, setting->value, length) != (ssize_t)length)
		failure = errno;
	if (fd >= 0)
		close(fd);
	return !failure || complain(report, "cannot write %s to %s: %s", setting->value, path,
				   strerror(failure));
}

static bool write_settings(const struct lab_layout *layout, size_t host, FILE *report)
{
	bool forwards = lab_layout_subnets(layout, host) > 1;

	for (size_t i = 0; i < COUNT(settings); i++)
		if ((forwards || !settings[i].forwarding) && !write_setting(&settings[i], report))
			return false;
	return true;
}

static bool is_offload(const char *name)
{
	for (size_t i = 0; i < COUNT(offloads); i++)
		if (!strncmp(offloads[i], name, ETH_GSTRING_LEN))
			return true;
	return false;
}

static int ask(int fd, const char *device, void *request)
{
	struct ifreq ifr = {.ifr_data = request};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", device);
	return ioctl(fd, SIOCETHTOOL, &ifr);
}

/* The names of all features; their index is their bit. Free it; NULL when it cannot be asked. */
static struct ethtool_gstrings *read_features(int fd, const char *device)
{
	const size_t most = FEATURE_BLOCKS * 32;
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + most * ETH_GSTRING_LEN);
	struct ethtool_sset_info *info = calloc(1, sizeof(*info) + sizeof(info->data[0]));
	__u32 count = 0;

	if (info) {
		info->cmd = ETHTOOL_GSSET_INFO;
		info->sset_mask = 1ull << ETH_SS_FEATURES;
		if (!ask(fd, device, info) && info->sset_mask)
			count = info->data[0];
	}
	free(info);
	if (names && count && count <= most) {
		names->cmd = ETHTOOL_GSTRINGS;
		names->string_set = ETH_SS_FEATURES;
		names->len = count;
		if (!ask(fd, device, names))
			return names;
	}
	free(names);
	return NULL;
}

/* Returns 0 or an errno. */
static int disable_offloads_of(int fd, const char *device)
{
	struct ethtool_gstrings *names = read_features(fd, device);
	struct ethtool_sfeatures *wanted =
		calloc(1, sizeof(*wanted) + FEATURE_BLOCKS * sizeof(wanted->features[0]));
	int failure = 0;

	if (!names || !wanted) {
		failure = errno ? errno : EOPNOTSUPP;
	} else {
		wanted->cmd = ETHTOOL_SFEATURES;
		wanted->size = (names->len + 31) / 32;
		for (__u32 i = 0; i < names->len; i++)
			if (is_offload((const char *)names->data + i * ETH_GSTRING_LEN))
				wanted->features[i / 32].valid |= 1u << i % 32;
		/* A positive answer means that some cannot be changed: those are off already. */
		if (ask(fd, device, wanted) < 0)
			failure = errno;
	}
	free(names);
	free(wanted);
	return failure;
}

static bool disable_offloads(const struct lab_layout *layout, size_t host, FILE *report)
{
	const struct topology *topology = layout->topology;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), failure = 0;
	const char *device = "";

	if (fd < 0)
		return complain(report, "cannot make a socket: %s", strerror(errno));
	for (size_t i = 0; !failure && i < topology->link_count * 2; i++) {
		const struct topology_end *end = lab_layout_end(topology, i / 2, i & 1);

		if (end->host != host || layout->cable[i / 2] != i / 2 ||
			!lab_shaping_needs_packets(topology, i / 2))
			continue;
		device = end->device;
		failure = disable_offloads_of(fd, device);
	}
	close(fd);
	return !failure || complain(report, "cannot switch the offloads of %s off: %s", device,
				   strerror(failure));
}

static bool enter(const char *name, FILE *report)
{
	char path[sizeof(LAB_NETNS_FOLDER) + 2 * LAB_NAME_SIZE];
	int fd, result;

	snprintf(path, sizeof(path), LAB_NETNS_FOLDER "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	result = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
	if (fd >= 0)
		close(fd);
	return !result || complain(report, "cannot enter %s: %s", path, strerror(errno));
}

static void __attribute__((noreturn))
run_in_child(const struct lab_layout *layout, step what, int report_fd)
{
	const struct topology *topology = layout->topology;
	FILE *report = fdopen(report_fd, "w");
	bool good = report != NULL;

	for (size_t i = 0; good && i < topology->host_count; i++) {
		char name[2 * LAB_NAME_SIZE];

		lab_names_host(topology, &topology->hosts[i], name, sizeof(name));
		good = enter(name, report) && what(layout, i, report);
		if (!good)
			fprintf(report, " (in namespace %s)", name);
	}
	if (report)
		fflush(report);
	_exit(good ? 0 : 1);
}

static int run_inside(const struct lab_layout *layout, step what, struct error *err)
{
	char said[512];
	ssize_t length;
	int ends[2], status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, ERROR_SYSTEM, "lab", "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		run_in_child(layout, what, ends[1]);
	close(ends[1]);
	/* A message is shorter than a pipe's atomic write, so one read has it all. */
	length = pid > 0 ? read(ends[0], said, sizeof(said) - 1) : 0;
	said[length > 0 ? length : 0] = '\0';
	close(ends[0]);
	if (pid < 0)
		return error_set(err, ERROR_SYSTEM, "lab", "no process: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return error_set(err, ERROR_LAB, "lab", "%s",
		*said ? said : "setting up a namespace failed without a word");
}

int lab_kernel_prepare(const struct lab_layout *layout, struct error *err)
{
	return run_inside(layout, write_settings, err);
}

int lab_kernel_disable_offloads(const struct lab_layout *layout, struct error *err)
{
	for (size_t i = 0; i < layout->topology->link_count; i++)
		if (lab_shaping_needs_packets(layout->topology, i))
			return run_inside(layout, disable_offloads, err);
	return 0;
}
