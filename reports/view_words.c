/* A verdict in words. Read each aloud: who limits the path must be clear in five seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

#define RATE_SIZE 48

/* "a", "a and b", "a, b and c"; free() it. */
static char *join(char *const *names, size_t count, const char *none)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", names[i]);
	if (!count)
		fputs(none, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static double mean_of(const struct view_group *group, const char *segment)
{
	const struct view_row *row = segment ? view_find_row(group, segment) : NULL;

	return row && row->row->valid ? row->row->stats.mean : (double)NAN;
}

struct sentence {
	FILE *out;
	const struct view_group *group;
	const struct verdict *verdict;
	const char *segments, *hosts; /* joined */
	double path;                  /* end to end, bit/s; NaN when not measured */
};

static void say_rate(FILE *out, const char *before, double rate, const char *after)
{
	char text[RATE_SIZE];

	if (isfinite(rate))
		fprintf(out, "%s%s%s", before, view_format_rate(rate, text, sizeof(text)), after);
}

static void say_link(const struct sentence *is)
{
	fprintf(is->out, "%s limits the path", is->segments);
	if (is->verdict->segment_count)
		say_rate(is->out, ": ", mean_of(is->group, is->verdict->segments[0]), "");
}

static void say_tie(const struct sentence *is)
{
	fprintf(is->out, "%s limit the path alike", is->segments);
	if (is->verdict->segment_count)
		say_rate(is->out, ": ", mean_of(is->group, is->verdict->segments[0]), "");
}

static void say_forwarding(const struct sentence *is)
{
	fprintf(is->out, "forwarding at %s limits the path", is->hosts);
	say_rate(is->out, ": ", is->path, " end to end (every link alone carries more)");
}

static void say_shared_medium(const struct sentence *is)
{
	fprintf(is->out, "the links share one medium, which limits the path");
	say_rate(is->out, ": ", is->path, " end to end");
}

static void say_none_found(const struct sentence *is)
{
	fprintf(is->out, "no bottleneck found: no segment is slower than the path");
	say_rate(is->out, ", which carries ", is->path, "");
}

static void say_host_cpu(const struct sentence *is)
{
	fprintf(is->out, "not limited by the network: the CPU of %s is", is->hosts);
	say_rate(is->out, " (", is->path, ")");
}

static void say_window(const struct sentence *is)
{
	fprintf(is->out, "not limited by the network: the TCP window is");
	say_rate(is->out, " (", is->path, ")");
}

static void say_application(const struct sentence *is)
{
	fprintf(is->out, "not limited by the network: the sender did not send all the time");
	say_rate(is->out, " (", is->path, ")");
}

static void say_inconclusive(const struct sentence *is)
{
	const char *slowest = is->verdict->slowest_segment;

	fprintf(is->out, "inconclusive: what limits the path is not settled");
	if (slowest) {
		fprintf(is->out, "; the slowest segment seen is %s", slowest);
		say_rate(is->out, " (", mean_of(is->group, slowest), ")");
	}
}

static void say_carried(const struct sentence *is)
{
	fprintf(is->out, "the path carries it");
	say_rate(is->out, ": ", is->path, "");
}

static void say_loss(const struct sentence *is)
{
	/* Named without a segment: what the host at the end did not read. */
	if (!is->verdict->segment_count)
		fprintf(is->out, "%s does not read what arrives; the path does not lose it",
			is->hosts);
	else
		fprintf(is->out, "%s loses packets", is->segments);
}

static void (*const sayers[])(const struct sentence *is) = {
	[VERDICT_LINK] = say_link,
	[VERDICT_TIE] = say_tie,
	[VERDICT_FORWARDING] = say_forwarding,
	[VERDICT_SHARED_MEDIUM] = say_shared_medium,
	[VERDICT_NONE_FOUND] = say_none_found,
	[VERDICT_HOST_CPU] = say_host_cpu,
	[VERDICT_WINDOW] = say_window,
	[VERDICT_APPLICATION] = say_application,
	[VERDICT_INCONCLUSIVE] = say_inconclusive,
	[VERDICT_CARRIED] = say_carried,
	[VERDICT_LOSS] = say_loss,
};

static const char *const grade_words[] = {
	[VERDICT_NO_GRADE] = "",
	[VERDICT_SUSPECTED] = ", suspected",
	[VERDICT_STATISTICAL] = ", statistical",
	[VERDICT_CONFIRMED] = ", confirmed",
};

static void say(const struct sentence *is)
{
	const struct verdict *verdict = is->verdict;
	char confidence[RATE_SIZE];

	sayers[verdict->kind](is);
	fputs(grade_words[verdict->grade], is->out);
	if (isfinite(verdict->confidence))
		fprintf(is->out, ", confidence %s",
			view_format_confidence(
				verdict->confidence, confidence, sizeof(confidence)));
	fputc('.', is->out);
}

char *view_sentence(const struct view *view, const struct view_group *group)
{
	const struct verdict *verdict = group->verdict;
	char *segments, *hosts, *text = NULL;
	size_t size;
	FILE *out;

	(void)view;
	if (!verdict || (size_t)verdict->kind >= sizeof(sayers) / sizeof(*sayers))
		return NULL;
	segments = join(verdict->segments, verdict->segment_count, "a link");
	hosts = join(verdict->hosts, verdict->host_count, "a host in the middle");
	out = segments && hosts ? open_memstream(&text, &size) : NULL;
	if (out) {
		say(&(struct sentence){
			.out = out,
			.group = group,
			.verdict = verdict,
			.segments = segments,
			.hosts = hosts,
			.path = mean_of(group, group->path),
		});
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	free(segments);
	free(hosts);
	return text;
}

char *view_qualifier(const struct view *view, const struct view_group *group)
{
	const struct verdict *verdict = group->verdict;
	char rate[RATE_SIZE], *hosts, *text = NULL;
	double path = mean_of(group, group->path);

	(void)view;
	if (!verdict)
		return NULL;
	switch (verdict->qualifier) {
	case VERDICT_AGREES:
		if (asprintf(&text, "Agrees: the path end to end carries as much (%s).",
			    view_format_rate(path, rate, sizeof(rate))) < 0)
			return NULL;
		return text;
	case VERDICT_ENDPOINT_LIMITED:
		hosts = join(verdict->hosts, verdict->host_count, "the host that ends its test");
		if (asprintf(&text,
			    "Endpoint-limited: its own test was held back by %s; the "
			    "path carried %s across it.",
			    hosts ? hosts : "", view_format_rate(path, rate, sizeof(rate))) < 0)
			text = NULL;
		free(hosts);
		return text;
	case VERDICT_OPEN:
		if (asprintf(&text, "Open: the path end to end (%s) may still differ from it.",
			    view_format_rate(path, rate, sizeof(rate))) < 0)
			return NULL;
		return text;
	case VERDICT_NO_QUALIFIER:
		break;
	}
	return strdup("");
}

char *view_advice(const struct view *view, const struct view_group *group)
{
	const struct verdict *verdict = group->verdict;
	char *text = NULL;

	(void)view;
	if (!verdict || verdict->kind != VERDICT_INCONCLUSIVE || !verdict->rounds_needed)
		return NULL;
	if (verdict->rounds_needed < 0)
		return strdup("More rounds will not settle it at this margin: steady the segment "
			      "(channel, other traffic), use longer trials, or set wider margins "
			      "under `verdict:`.");
	if (asprintf(&text, "This should settle it: orch run TOPOLOGY --trials %d",
		    verdict->rounds_needed) < 0)
		return NULL;
	return text;
}
