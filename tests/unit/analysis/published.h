/*
 * A published home-router test, Mbit/s, 10 trials: a wired segment, a wireless one, end to end. All
 * expected numbers about it were computed once with an independent program.
 */
#ifndef PUBLISHED_H
#define PUBLISHED_H

static const double published_wired[] = {
	94.3, 94.4, 94.3, 94.4, 94.5, 94.5, 94.5, 94.4, 94.5, 94.5};
static const double published_wireless[] = {
	25.9, 23.9, 18.5, 18.8, 20.1, 18.2, 20.0, 19.2, 18.4, 21.3};
static const double published_end[] = {25.1, 23.1, 25.6, 22.8, 22.2, 22.7, 19.5, 19.0, 17.8, 20.7};

#endif
