// The table of step kinds: one row for each kind. step_kinds.h includes it to make the enum and the
// properties, from which printers, checkers, tracers, the header of a trace and Python take them.
//
// To add a kind, append a row here, state in semantics.h for which segment it waits, and implement
// it in exec/execution.h and in simulated_run.cpp. Trace files contain the numbers, so a kind keeps
// its number.
//
// Columns: number, name, group, form (step_kinds.h), operands, meaning.
TUTTI_STEP_KIND(0, wait_word, waiting, peer_word, "peer, transfer",
                "wait until the peer's word shows this segment's transfer")
TUTTI_STEP_KIND(1, wait_line, waiting, peer_line, "peer's line, transfer",
                "wait until the line has the transfer's stamp")
TUTTI_STEP_KIND(2, wait_reuse, waiting, peer_word, "peer, transfer",
                "wait until the peer's word shows the transfer of the segment that used this ring "
                "position before")
TUTTI_STEP_KIND(3, copy, moving, blocks, "destination, source", "copy blocks")
TUTTI_STEP_KIND(4, reduce, reducing, blocks, "destination, sources",
                "combine blocks, in the order of the sources")
TUTTI_STEP_KIND(5, reduce_any, reducing, arriving_blocks,
                "destination, sources with the transfer that makes each ready",
                "combine blocks, each source as soon as its peer's word, or line, shows its "
                "transfer")
TUTTI_STEP_KIND(6, publish, telling, own_word, "transfer",
                "set this rank's word to this segment's transfer")
TUTTI_STEP_KIND(7, stamp, telling, own_line, "line, transfer",
                "set the stamp of this rank's line to the transfer")
TUTTI_STEP_KIND(8, wait_return, waiting, peer_word, "peer, transfer",
                "if others read this rank's own buffers: wait until the peer's word shows the last "
                "segment's transfer")
TUTTI_STEP_KIND(9, wait_before, waiting, peer_word, "peer, transfer",
                "wait until the peer's word shows the transfer of the segment before")
TUTTI_STEP_KIND(10, post, telling, message, "message",
                "allow the message to come, because its place is free")
TUTTI_STEP_KIND(11, send, telling, message, "message", "send the message")
TUTTI_STEP_KIND(12, receive, waiting, message, "message", "wait until the message has come")
TUTTI_STEP_KIND(13, sent, waiting, message, "message",
                "wait until the message's source may be written again")
