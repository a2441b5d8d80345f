/* The wall clock, for people: run files say when. Nothing is measured with it. */
#ifndef CLOCK_H
#define CLOCK_H

#define CLOCK_UTC_SIZE 24

/* "2026-01-31T12:34:56Z"; returns buffer. */
const char *clock_utc(char buffer[CLOCK_UTC_SIZE]);

#endif
