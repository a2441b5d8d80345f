/* The wall clock, for people: run files say when. Nothing is measured with it. */
#ifndef UTC_H
#define UTC_H

#define UTC_SIZE 24

/* "2026-01-31T12:34:56Z"; returns buffer. */
const char *utc_now(char buffer[UTC_SIZE]);

#endif
