/* Messages whose receiver comes late: what receiving costs the processor, and the longest message
 * that does not wait for its receiver. Both ranks call these alike. */
#ifndef TUTTI_BENCH_MESSAGES_LATE_H
#define TUTTI_BENCH_MESSAGES_LATE_H

#include <stdbool.h>

#include "link.h"

/* LogGP's o of a receiver: the seconds to post a receive, and to complete it when its message has
 * been there for long. */
double late_receive_overhead(Link* link, size_t bytes);

/* The most bytes of a message that is on its way before its receiver has posted a receive: its send
 * completes before the receiver comes, or its data is there when the receiver comes. (Some MPIs
 * complete such a send only when the receiver has answered.) `seconds`: messages whose bytes take
 * longer are not tried. `limited`: true if all that were tried went so. */
size_t late_prompt_bytes(Link* link, double seconds, bool* limited);

#endif
