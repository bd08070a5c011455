/* clock.h: the time that only goes forward. */
#ifndef CLOCK_H
#define CLOCK_H

double clock_seconds(void); /* monotonic; since some moment in the past */

#endif
