/*
 * A lab as text for the tools that build it, one step a text. Pure; the whole text's hash says
 * whether a lab that is up is this topology's.
 */
#ifndef LAB_SCRIPT_H
#define LAB_SCRIPT_H

#include "lab_layout.h"

struct lab_host_script {
	char *ip;  /* for `ip -n NAMESPACE -batch -` */
	char *tc;  /* for `tc -n NAMESPACE -batch -`; may be empty */
	char *nft; /* for `nft -f -` inside; may be empty */
};

struct lab_script {
	char *namespaces; /* for `ip -batch -`: adds the namespaces */
	char *cables;     /* adds the veth pairs */
	struct lab_host_script *hosts;
	size_t host_count;
};

struct lab_script *lab_script_create(
	const struct lab_layout *layout, bool with_ipv6, struct error *err);
void lab_script_destroy(struct lab_script *script);

/* What makes two labs the same: every command, and the cpu shares, which no command carries. */
uint64_t lab_script_fingerprint(const struct lab_script *script, const struct topology *topology);

#endif
