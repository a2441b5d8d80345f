/* A path drawn in one line: what each link carries, and who limits it. */
#ifndef TABLE_PATH_H
#define TABLE_PATH_H

#include "report.h"

/*
 *   forward  pc1 -- wan 95.6 -> router == wlan 24.1 => pc2
 *   reverse  pc1 <- wan 95.5 -- [router] <- wlan 94.8 -- pc2
 *
 * Always from the path's first host; arrows are the traffic's direction; "==" is a link and [ ] a
 * host that the verdict names. Broken between hosts when it is wider than options->columns.
 */
void table_path(const struct view *view, const struct view_group *group,
	const struct report_options *options, FILE *out);

#endif
