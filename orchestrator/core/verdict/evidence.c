/* What the hosts' counters say of a verdict that the throughputs suggest. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "parts.h"

/* A counter speaks when it grew by one a trial, and to twice what the links' own trials show. */
#define COUNTER_LEAST 1.
#define COUNTER_TIMES 2.

static const struct run_host_evidence *find_host(const struct run_trial *trial, const char *host)
{
	size_t i;

	for (i = 0; i < trial->host_count; i++)
		if (!strcmp(trial->hosts[i].host, host))
			return &trial->hosts[i];
	return NULL;
}

static const struct run_interface_evidence *find_interface(
	const struct run_trial *trial, const char *host, const char *device)
{
	size_t i;

	for (i = 0; i < trial->interface_count; i++)
		if (!strcmp(trial->interfaces[i].host, host) &&
			!strcmp(trial->interfaces[i].interface, device))
			return &trial->interfaces[i];
	return NULL;
}

static const char *boot_id(const struct verdict_study *study, const char *host)
{
	const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(study->run->document, "hosts");

	return json_text(cJSON_GetObjectItemCaseSensitive(hosts, host), "boot_id");
}

/*
 * Cores and softnet counters are a machine's. Where hosts of the path share one (namespaces,
 * containers) they cannot tell which of them was at work.
 */
static bool shares_machine(const struct verdict_study *study, size_t position)
{
	const char *own = boot_id(study, study_host_name(study, position)), *other;
	size_t i;

	for (i = 0; own && own[0] && i <= study->links; i++) {
		other = i == position ? NULL : boot_id(study, study_host_name(study, i));
		if (other && !strcmp(own, other))
			return true;
	}
	return false;
}

static const char *segment_name(const struct verdict_study *study, size_t segment)
{
	return segment < study->links ? study_link_name(study, segment) : "end to end";
}

bool evidence_core(struct verdict_study *study, size_t segment, size_t position, double level)
{
	const char *host = study_host_name(study, position);
	size_t seen = 0, full = 0, i;

	if (shares_machine(study, position))
		return false;
	for (i = 0; i < study->trial_count; i++) {
		const struct run_trial *trial = study->trials[i];
		const struct run_host_evidence *evidence = find_host(trial, host);

		if (trial->segment_index != segment || !run_trial_valid(trial) || !evidence ||
			evidence->busiest < 0)
			continue;
		seen++;
		full += evidence->busiest >= level;
	}
	if (seen < VERDICT_ROUNDS_MIN || 2 * full < seen)
		return false;
	verdict_reason(study->verdict,
		"a core of %s was at %.0f %% or more in %zu of %zu %s trials", host, 100 * level,
		full, seen, segment_name(study, segment));
	return true;
}

/* Mean a trial of a counter of a host (device NULL) or of an interface; NaN when none tells. */
static double mean_counter(const struct verdict_study *study, size_t segment, const char *host,
	const char *device, size_t offset)
{
	double sum = 0;
	size_t seen = 0, i;

	for (i = 0; i < study->trial_count; i++) {
		const struct run_trial *trial = study->trials[i];
		const void *evidence;
		double value;

		if (trial->segment_index != segment || !run_trial_valid(trial))
			continue;
		evidence = device ? (const void *)find_interface(trial, host, device)
				  : (const void *)find_host(trial, host);
		if (!evidence)
			continue;
		memcpy(&value, (const char *)evidence + offset, sizeof(value));
		if (value < 0)
			continue;
		sum += value;
		seen++;
	}
	return seen >= VERDICT_ROUNDS_MIN ? sum / (double)seen : NAN;
}

struct counter {
	size_t offset;
	const char *what;
};

static const struct counter host_counters[] = {
	{offsetof(struct run_host_evidence, softnet_dropped), "packets dropped before its stack"},
	{offsetof(struct run_host_evidence, softnet_squeezed),
		"receive rounds cut short (squeezed)"},
};

static const struct counter interface_counters[] = {
	{offsetof(struct run_interface_evidence, qdisc_drops), "packets dropped by its queue"},
	{offsetof(struct run_interface_evidence, rx_dropped), "packets dropped on receipt"},
	{offsetof(struct run_interface_evidence, tx_dropped), "packets dropped on sending"},
};

/*
 * A shaped link's own queue drops in that link's trials as well: only what end to end adds is
 * evidence of forwarding.
 */
static bool counter_grew(struct verdict_study *study, const char *host, const char *device,
	const struct counter *counter, size_t link)
{
	double whole = mean_counter(study, study_whole(study), host, device, counter->offset);
	double alone = mean_counter(study, link, host, device, counter->offset);

	if (!(whole >= COUNTER_LEAST) || whole < COUNTER_TIMES * alone)
		return false;
	if (isnan(alone))
		verdict_reason(study->verdict, "%s%s%s: %.1f %s a trial end to end", host,
			device ? ":" : "", device ? device : "", whole, counter->what);
	else
		verdict_reason(study->verdict,
			"%s%s%s: %.1f %s a trial end to end, %.1f in the trials of %s alone", host,
			device ? ":" : "", device ? device : "", whole, counter->what, alone,
			study_link_name(study, link));
	return true;
}

static bool interface_grew(
	struct verdict_study *study, const struct topology_end *end, const char *host, size_t link)
{
	const char *device = end->device ? end->device : end->interface;
	bool grew = false;
	size_t i;

	for (i = 0; device && i < sizeof(interface_counters) / sizeof(interface_counters[0]); i++)
		grew = counter_grew(study, host, device, &interface_counters[i], link) || grew;
	return grew;
}

bool evidence_forwarding(struct verdict_study *study, size_t position)
{
	const char *host = study_host_name(study, position);
	bool grew = evidence_core(study, study_whole(study), position, VERDICT_CORE_FULL);
	size_t i;

	for (i = 0; !shares_machine(study, position) &&
		    i < sizeof(host_counters) / sizeof(host_counters[0]);
		i++)
		grew = counter_grew(study, host, NULL, &host_counters[i], position) || grew;
	grew = interface_grew(study, study_far_end(study, position - 1), host, position - 1) ||
	       grew;
	grew = interface_grew(study, study_near_end(study, position), host, position) || grew;
	return grew;
}

/* The speed one end reports in the link's own trials, the last word counting; 0 = none. */
static int end_speed(
	const struct verdict_study *study, size_t link, const char *host, const char *device)
{
	int speed = 0;
	size_t i;

	for (i = 0; device && i < study->trial_count; i++) {
		const struct run_interface_evidence *evidence;

		if (study->trials[i]->segment_index != link)
			continue;
		evidence = find_interface(study->trials[i], host, device);
		if (evidence && evidence->speed_mbit > speed)
			speed = evidence->speed_mbit;
	}
	return speed;
}

int evidence_speed(const struct verdict_study *study, size_t link, const char **ret_host,
	const char **ret_interface)
{
	const struct topology_end *ends[] = {
		study_near_end(study, link), study_far_end(study, link)};
	int least = 0;
	size_t i;

	/* The lab's veth report 10000 whatever they carry; a radio's rate is no promise. */
	if (study->topology->lab ||
		study->topology->links[study->path->links[link]].medium != TOPOLOGY_ETHERNET)
		return 0;
	for (i = 0; i < 2; i++) {
		const char *host = study_host_name(study, link + i);
		const char *device = ends[i]->device ? ends[i]->device : ends[i]->interface;
		int speed = end_speed(study, link, host, device);

		if (speed <= 0 || (least && speed >= least))
			continue;
		least = speed;
		*ret_host = host;
		*ret_interface = device;
	}
	return least;
}

/* A link that carries .85 of its negotiated speed is full: headers and gaps take the rest. */
static bool evidence_full_speed(struct verdict_study *study, size_t link)
{
	const char *host = NULL, *device = NULL;
	int speed = evidence_speed(study, link, &host, &device);
	double rate = study_rate(study, study->limited[link] ? study_whole(study) : link);
	char text[32];

	if (!speed || rate < .85e6 * speed)
		return false;
	verdict_reason(study->verdict, "%s negotiated %d Mbit/s at %s:%s and carries %s of them",
		study_link_name(study, link), speed, host, device,
		verdict_rate(rate, text, sizeof(text)));
	return true;
}

/* The queue in front of the link, on the host that sends into it. */
static bool evidence_queue(struct verdict_study *study, size_t link)
{
	bool reverse = study->verdict->direction == TOPOLOGY_REVERSE;
	const struct topology_end *end =
		reverse ? study_far_end(study, link) : study_near_end(study, link);
	const char *host = study_host_name(study, reverse ? link + 1 : link);
	const char *device = end->device ? end->device : end->interface;
	double drops;

	if (!device)
		return false;
	drops = mean_counter(study, study_whole(study), host, device,
		offsetof(struct run_interface_evidence, qdisc_drops));
	if (!(drops >= COUNTER_LEAST))
		return false;
	verdict_reason(study->verdict,
		"the queue of %s:%s, in front of %s, dropped %.1f packets a trial end to end", host,
		device, study_link_name(study, link), drops);
	return true;
}

bool evidence_link(struct verdict_study *study, size_t link)
{
	bool matches = evidence_full_speed(study, link);
	size_t i;

	matches = evidence_queue(study, link) || matches;
	matches = evidence_queue_growth(study, link) || matches;
	for (i = link; study->limited[link] && i <= link + 1; i++)
		if (i > 0 && i < study->links)
			matches = evidence_core(study, link, i, VERDICT_CORE_BUSY) || matches;
	return matches;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_min_rtt(const struct verdict_study *study, size_t segment)
{
	double *values = calloc(study->trial_count, sizeof(*values)), result = NAN;
	size_t n = 0, i;

	for (i = 0; values && i < study->trial_count; i++)
		if (study->trials[i]->segment_index == segment &&
			run_trial_valid(study->trials[i]) && study->trials[i]->min_rtt_us > 0)
			values[n++] = study->trials[i]->min_rtt_us;
	if (values && n >= VERDICT_ROUNDS_MIN) {
		qsort(values, n, sizeof(*values), compare_doubles);
		result = values[n / 2];
	}
	free(values);
	return result;
}

/* Lost segments by all segments sent, end to end; NaN when unknown. */
static double loss_share(const struct verdict_study *study)
{
	const double segment_bytes = 1448;
	double lost = 0, bytes = 0;
	size_t i;

	for (i = 0; i < study->trial_count; i++) {
		const struct run_trial *trial = study->trials[i];

		if (trial->segment_index != study_whole(study) || !run_trial_valid(trial) ||
			isnan(trial->retransmits) || !(trial->bytes > 0))
			continue;
		lost += trial->retransmits;
		bytes += trial->bytes;
	}
	return bytes > 0 ? lost / (bytes / segment_bytes) : NAN;
}

/*
 * A longer path recovers slower from each loss. With a base RTT over twice any link's and
 * retransmits, a path below its links need not mean a host that forwards slowly. That holds only
 * where loss times RTT can bind: a rate of 1.22 MSS / (RTT sqrt(p)) (Mathis et al. 1997) within
 * twice what the path carries. Without this a router in a lab, whose RTTs are microseconds, would
 * never be named.
 */
bool evidence_loss_rtt(struct verdict_study *study)
{
	double path = median_min_rtt(study, study_whole(study)), longest = NAN;
	double loss = loss_share(study), bound;
	size_t i;

	for (i = 0; i < study->links; i++)
		longest = fmax(longest, median_min_rtt(study, i));
	if (!(path > 2 * longest) || !(loss > 0))
		return false;
	bound = 1.22 * 1448 * 8 / (path * 1e-6 * sqrt(loss));
	if (bound > 2 * study_rate(study, study_whole(study)))
		return false;
	verdict_reason(study->verdict,
		"the path's base round trip is %.1f ms, over twice any link's (%.1f ms), and "
		"%.2f %% of its segments were sent again: loss times round trip can explain the "
		"difference; measure with more streams",
		path / 1000, longest / 1000, 100 * loss);
	return true;
}
