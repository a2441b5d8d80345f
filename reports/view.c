#include "view.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct cJSON *object, const char *key, const char *missing)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : missing;
}

static double number_of(const struct cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

/* Same text, or both missing. */
static bool equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void read_document(struct view *view)
{
	const cJSON *document = view->run->document;

	view->name = text_of(document, "name", view->run->topology->name);
	if (!view->name)
		view->name = "";
	view->label = text_of(document, "label", "");
	view->started = text_of(document, "started", "");
	view->orch = text_of(document, "orch", "");
	view->seed = number_of(document, "seed");
	view->complete = !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(document, "complete"));
	for (size_t i = 0; i < view->run->trial_count; i++) {
		if (view->run->trials[i]->round > view->rounds)
			view->rounds = view->run->trials[i]->round;
	}
}

static int read_hosts(struct view *view)
{
	const struct topology *topology = view->run->topology;
	const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(view->run->document, "hosts");
	const char *boot_id;

	view->hosts = calloc(topology->host_count + 1, sizeof(*view->hosts));
	if (!view->hosts)
		return -1;
	view->host_count = topology->host_count;
	for (size_t i = 0; i < view->host_count; i++) {
		struct view_host *host = &view->hosts[i];
		const cJSON *facts;
		double cpus;

		host->name = topology->hosts[i].name;
		facts = cJSON_GetObjectItemCaseSensitive(hosts, host->name);
		host->kernel = text_of(facts, "kernel", NULL);
		host->arch = text_of(facts, "arch", NULL);
		host->firmware = text_of(facts, "firmware", NULL);
		cpus = number_of(facts, "cpus");
		host->cpus = cpus >= 1 && cpus <= 65536 ? (int)cpus : 0;
		boot_id = text_of(facts, "boot_id", NULL);
		host->machine = i;
		for (size_t j = 0; j < i && boot_id && boot_id[0]; j++) {
			const cJSON *other =
				cJSON_GetObjectItemCaseSensitive(hosts, view->hosts[j].name);

			if (equal(boot_id, text_of(other, "boot_id", NULL))) {
				host->machine = view->hosts[j].machine;
				break;
			}
		}
	}
	return 0;
}

const struct topology_path *view_find_path(const struct view *view, const char *path)
{
	const struct topology *topology = view->run->topology;

	for (size_t i = 0; i < topology->path_count; i++) {
		if (equal(topology->paths[i].name, path))
			return &topology->paths[i];
	}
	return NULL;
}

/* From which position of the path's hosts to which: a link, the whole path, or PATH:HOST. */
static bool find_ends(const struct topology *topology, const struct topology_path *path,
	const char *segment, size_t *ret_near, size_t *ret_far)
{
	size_t length = strlen(path->name);

	for (size_t i = 0; i < path->link_count; i++) {
		if (strcmp(topology->links[path->links[i]].name, segment) == 0) {
			*ret_near = i;
			*ret_far = i + 1;
			return true;
		}
	}
	if (strncmp(segment, path->name, length) != 0)
		return false;
	for (size_t i = 1; i <= path->link_count; i++) {
		const char *host = topology->hosts[path->hosts[i]].name;

		if ((i == path->link_count && !segment[length]) ||
			(segment[length] == ':' && strcmp(segment + length + 1, host) == 0)) {
			*ret_near = 0;
			*ret_far = i;
			return true;
		}
	}
	return false;
}

static void fill_row(const struct view *view, const struct view_group *group, struct view_row *row)
{
	const struct topology *topology = view->run->topology;
	const struct topology_path *path = view_find_path(view, group->path);
	const struct verdict *verdict = group->verdict;
	size_t near, far;

	if (path && find_ends(topology, path, row->row->segment, &near, &far)) {
		const char *first = topology->hosts[path->hosts[near]].name;
		const char *last = topology->hosts[path->hosts[far]].name;
		bool reverse = group->direction == TOPOLOGY_REVERSE;

		row->from = reverse ? last : first;
		row->to = reverse ? first : last;
	}
	for (size_t i = 0; verdict && i < verdict->segment_count; i++)
		row->blamed |= equal(verdict->segments[i], row->row->segment);
}

static bool in_group(const struct view_group *group, const char *path, const char *test,
	const char *engine, enum topology_direction direction)
{
	return equal(group->path, path) && equal(group->test, test) &&
	       equal(group->engine, engine) && group->direction == direction;
}

static struct view_group *find_group(struct view *view, const struct summary_row *row)
{
	for (size_t i = 0; i < view->group_count; i++) {
		if (in_group(&view->groups[i], row->path, row->test, row->engine, row->direction))
			return &view->groups[i];
	}
	return NULL;
}

/* Path, test and engine as they come; within them forward before reverse. */
static struct view_group *add_group(struct view *view, const struct summary_row *row)
{
	struct view_group *groups = view->groups;
	size_t at = view->group_count;

	for (size_t i = 0; i < view->group_count; i++) {
		if (!in_group(&groups[i], row->path, row->test, row->engine, groups[i].direction))
			continue;
		at = i + 1;
		if (groups[i].direction > row->direction) {
			at = i;
			break;
		}
	}
	memmove(&groups[at + 1], &groups[at], (view->group_count - at) * sizeof(*groups));
	view->group_count++;
	groups[at] = (struct view_group){
		.path = row->path,
		.test = row->test,
		.engine = row->engine,
		.direction = row->direction,
	};
	return &groups[at];
}

static int build_groups(struct view *view)
{
	const struct summary *summary = view->summary;

	view->groups = calloc(summary->row_count + 1, sizeof(*view->groups));
	if (!view->groups)
		return -1;
	for (size_t i = 0; i < summary->row_count; i++) {
		struct view_group *group = find_group(view, &summary->rows[i]);
		struct view_row *rows;

		if (!group)
			group = add_group(view, &summary->rows[i]);
		rows = realloc(group->rows, (group->row_count + 1) * sizeof(*rows));
		if (!rows)
			return -1;
		rows[group->row_count++] = (struct view_row){.row = &summary->rows[i]};
		group->rows = rows;
	}
	for (size_t i = 0; i < view->group_count; i++) {
		struct view_group *group = &view->groups[i];

		for (size_t j = 0; j < view->verdicts->count; j++) {
			const struct verdict *verdict = &view->verdicts->items[j];

			if (in_group(group, verdict->path, verdict->test, verdict->engine,
				    verdict->direction))
				group->verdict = verdict;
		}
		for (size_t j = 0; j < group->row_count; j++)
			fill_row(view, group, &group->rows[j]);
		if (view_fill_loads(view, group))
			return -1;
	}
	return 0;
}

static bool same_series(const struct run_trial *a, const struct run_trial *b)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): every failure has a first */
	return equal(a->path, b->path) && equal(a->segment, b->segment) &&
	       equal(a->test, b->test) && equal(a->engine, b->engine) &&
	       a->direction == b->direction;
}

static const char *failure_cause(const struct run_trial *trial)
{
	const char *proof = text_of(trial->json, "proof", NULL);

	if (trial->error && trial->error[0])
		return trial->error;
	if (equal(trial->path_proof, "contradicted"))
		return proof ? proof : "the traffic took another interface";
	return trial->ok ? "no throughput was recorded" : "no cause was recorded";
}

/* The failure of this series and cause, a new one when it is the first. */
static struct view_failure *find_failure(
	struct view *view, const struct run_trial *trial, const char *cause)
{
	for (size_t i = 0; i < view->failure_count; i++) {
		struct view_failure *failure = &view->failures[i];

		if (failure->first && same_series(failure->first, trial) &&
			equal(failure->cause, cause))
			return failure;
	}
	view->failures[view->failure_count] = (struct view_failure){.first = trial, .cause = cause};
	return &view->failures[view->failure_count++];
}

static int count_failures(struct view *view)
{
	view->failures = calloc(view->run->trial_count + 1, sizeof(*view->failures));
	if (!view->failures)
		return -1;
	for (size_t i = 0; i < view->run->trial_count; i++) {
		const struct run_trial *trial = view->run->trials[i];

		if (!run_trial_valid(trial))
			find_failure(view, trial, failure_cause(trial))->count++;
	}
	return 0;
}

static void count_proof(struct view *view)
{
	for (size_t i = 0; i < view->run->trial_count; i++) {
		const struct run_trial *trial = view->run->trials[i];

		if (equal(trial->path_proof, "contradicted"))
			view->proof.contradicted++;
		else if (!run_trial_valid(trial))
			continue;
		else if (equal(trial->path_proof, "proved"))
			view->proof.proved++;
		else if (equal(trial->path_proof, "not_observable"))
			view->proof.not_observable++;
		else
			view->proof.unknown++;
	}
}

static bool has_flag(const struct run_trial *trial, const char *flag)
{
	const cJSON *flags = cJSON_GetObjectItemCaseSensitive(trial->json, "flags"), *item;

	cJSON_ArrayForEach (item, flags) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, flag) == 0)
			return true;
	}
	return false;
}

static bool is_stalled(const struct run_trial *trial)
{
	return trial->stalled;
}

static bool is_crossed(const struct run_trial *trial)
{
	return has_flag(trial, "cross_traffic");
}

static bool is_hidden(const struct run_trial *trial)
{
	return equal(trial->path_proof, "not_observable");
}

/* Notes that count the trials they are about. */
static const struct {
	bool (*applies)(const struct run_trial *trial);
	const char *text;
} trial_notes[] = {
	{is_stalled, "stalls: for at least one interval nothing arrived"},
	{is_crossed, "cross traffic: an interface carried more than the test's bytes"},
	{is_hidden, "path not observable: no counter shows the bytes (bridge or offload)"},
};

#define TRIAL_NOTES (sizeof(trial_notes) / sizeof(*trial_notes))

static bool of_row(const struct run_trial *trial, const struct summary_row *row)
{
	return equal(trial->path, row->path) && equal(trial->segment, row->segment) &&
	       equal(trial->test, row->test) && equal(trial->engine, row->engine) &&
	       trial->direction == row->direction;
}

static void add_note(
	struct view *view, const struct summary_row *row, const char *text, size_t count)
{
	view->notes[view->note_count++] =
		(struct view_note){.row = row, .text = text, .count = count};
}

static void add_trial_notes(struct view *view, const struct summary_row *row)
{
	for (size_t i = 0; i < TRIAL_NOTES; i++) {
		size_t count = 0;

		for (size_t j = 0; j < view->run->trial_count; j++) {
			const struct run_trial *trial = view->run->trials[j];

			count += of_row(trial, row) && run_trial_valid(trial) &&
				 trial_notes[i].applies(trial);
		}
		if (count)
			add_note(view, row, trial_notes[i].text, count);
	}
}

static int collect_notes(struct view *view)
{
	const struct summary *summary = view->summary;

	view->notes = calloc(summary->row_count * (2 + TRIAL_NOTES) + 1, sizeof(*view->notes));
	if (!view->notes)
		return -1;
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct summary_row *row = &summary->rows[i];

		if (row->stats.drift)
			add_note(view, row, "drift: it rises or falls over the run", 0);
		if (row->stats.two_modes)
			add_note(view, row, "two modes: the values fall into two groups", 0);
		add_trial_notes(view, row);
	}
	return 0;
}

struct view *view_create(const struct run *run, struct error *err)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view) {
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
		return NULL;
	}
	view->run = run;
	view->summary = summary_build(run, err);
	view->verdicts = view->summary ? verdict_decide(run, err) : NULL;
	if (!view->verdicts)
		goto fail;
	read_document(view);
	if (read_hosts(view) || build_groups(view) || count_failures(view) || collect_notes(view)) {
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
		goto fail;
	}
	count_proof(view);
	return view;
fail:
	view_free(view);
	return NULL;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->group_count; i++) {
		free(view->groups[i].rows);
		free(view->groups[i].loads);
	}
	free(view->groups);
	free(view->hosts);
	free(view->failures);
	free(view->notes);
	summary_free(view->summary);
	verdict_free(view->verdicts);
	free(view);
}

const struct view_row *view_find_row(const struct view_group *group, const char *segment)
{
	for (size_t i = 0; i < group->row_count; i++) {
		if (equal(group->rows[i].row->segment, segment))
			return &group->rows[i];
	}
	return NULL;
}
