/* Tutti: fast collectives on many-core machines. The C API, without MPI.
 *
 * A team is a fixed number of ranks: each a thread of this process, or processes of this node and
 * threads of theirs (tutti_team_create_by). Every rank joins once and gets a group, its handle for
 * collective calls. All ranks of a team make the same collective calls in the same order, as in
 * MPI; each group is used by one thread at a time.
 *
 *   tutti_team* team;
 *   tutti_team_create(4, &team);
 *   // in thread r of 4:
 *   tutti_group* group;
 *   tutti_team_join(team, r, &group);
 *   tutti_allreduce(group, &mine, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM);
 *   tutti_group_free(group);
 *   // when all threads are done:
 *   tutti_team_free(team);
 *
 * Every call that can fail returns TUTTI_OK or an error; tutti_error_message() then says in one
 * line what was wrong, to the thread that made the call. After TUTTI_INVALID_ARGUMENT the call has
 * done nothing. After TUTTI_MISMATCH the team can only be freed.
 *
 * The caller owns the buffers, which are aligned for their type; it may reuse them when the call
 * returns. `in` and `out` of one rank do not overlap, or they are one buffer as the function's
 * comment says (in place); each rank decides this for itself. `count` counts elements, `bytes` and
 * `part_bytes` count bytes; 0 is allowed, and buffers may be null then. "n parts" is a buffer with
 * a part for each of the n ranks, in rank order and without gaps.
 */
#ifndef TUTTI_H
#define TUTTI_H

#include <stddef.h>
#include <stdint.h>

/* A program that also runs without Tutti defines TUTTI_API as __attribute__((weak)). Then it need
 * not be linked to Tutti, and the functions are null unless tutti-run has loaded them. */
#if defined(TUTTI_API)
#elif defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

/* Enumerations have the type int, so that the library can refuse any wrong value. C's do already.
 */
#if defined(__cplusplus)
#define TUTTI_INT : int
#else
#define TUTTI_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tutti_status TUTTI_INT {
  TUTTI_OK = 0,
  TUTTI_INVALID_ARGUMENT = 1, /* null, out of range, overlapping, unknown */
  TUTTI_INVALID_PLAN = 2,     /* a plan does not compute its collective */
  TUTTI_UNAVAILABLE = 3,      /* memory or a permission is missing */
  /* Ranks called different collectives, or with different counts or roots, or reductions of
   * different types or with different operations. */
  TUTTI_MISMATCH = 4,
  TUTTI_DEAD_PEER = 5, /* a rank has ended, or has stalled and TUTTI_STALL=abort */
  TUTTI_INTERNAL = 6,  /* a defect in Tutti: please report it */
  TUTTI_EMPTY = 7,     /* an array without elements has no value (tutti_reduce_array_by) */
  TUTTI_TIMEOUT = 8    /* the request is not complete after the time that its wait was given */
} tutti_status;

typedef enum tutti_type TUTTI_INT {
  TUTTI_INT8,
  TUTTI_INT16,
  TUTTI_INT32,
  TUTTI_INT64,
  TUTTI_UINT8,
  TUTTI_UINT16,
  TUTTI_UINT32,
  TUTTI_UINT64,
  TUTTI_FLOAT32,
  TUTTI_FLOAT64,
  TUTTI_LONG_DOUBLE,         /* C's, of this platform */
  TUTTI_COMPLEX64,           /* two float */
  TUTTI_COMPLEX128,          /* two double */
  TUTTI_COMPLEX_LONG_DOUBLE, /* two long double */
  /* Combined in float and rounded once, so only calls that start (tutti_iallreduce) have them: */
  TUTTI_BFLOAT16,
  TUTTI_FLOAT16
} tutti_type;

/* The logical and bitwise operations are for integers, TUTTI_MAX and TUTTI_MIN for all but complex
 * numbers. Integers wrap. */
typedef enum tutti_op TUTTI_INT {
  TUTTI_SUM,
  TUTTI_PROD,
  TUTTI_MAX,
  TUTTI_MIN,
  TUTTI_LAND,
  TUTTI_LOR,
  TUTTI_LXOR,
  TUTTI_BAND,
  TUTTI_BOR,
  TUTTI_BXOR,
  TUTTI_AVG /* the sum divided by the number of ranks; for real numbers, in calls that start */
} tutti_op;

typedef struct tutti_team tutti_team;
typedef struct tutti_group tutti_group;

/* Makes a team of `ranks` ranks (1 to 4096). The caller frees it after all its groups. If there are
 * more ranks than processing units that the process's threads may use now, ranks give up their core
 * while they wait, which is slower. So if threads are bound, as OpenMP binds its own, make the team
 * after they have started. */
TUTTI_API tutti_status tutti_team_create(int ranks, tutti_team** team);
TUTTI_API void tutti_team_free(tutti_team* team);

/* Makes the handle of rank `rank`; each rank joins once. It does not wait for the others; the first
 * collective call does, until all have joined. Call it in the thread that will be the rank, when
 * that thread is bound to its cores: the bindings tell which ranks share caches and numa regions,
 * and so which algorithms to use. Without bindings, or if one thread joins for all ranks, all ranks
 * are equally near. */
TUTTI_API tutti_status tutti_team_join(tutti_team* team, int rank, tutti_group** group);
TUTTI_API void tutti_group_free(tutti_group* group);

/* Teams of processes. The ranks find each other by a store: a rank sets a value once under a key,
 * others get it. Any store will do: one of tutti_store_open, or functions of the caller's. It is
 * used inside tutti_team_create_by alone. Keys have up to 255 characters, values up to 4096 bytes.
 * The functions return 0, or another number if they cannot. */
typedef struct tutti_store {
  int (*set)(void* context, const char* key, const void* data, size_t bytes);
  /* Waits for at most so many seconds until the key has a value, which has so many bytes. */
  int (*get)(void* context, const char* key, void* data, size_t bytes, double seconds);
  void* context;
} tutti_store;

/* Opens a store at a place: a directory of this node, or tcp://HOST:PORT, where rank 0's process
 * serves until it closes the store. The other ranks try for so many seconds to reach it. Every rank
 * closes it, at any time after tutti_team_create_by. */
TUTTI_API tutti_status tutti_store_open(const char* place, int rank, double seconds,
                                        tutti_store** store);
TUTTI_API void tutti_store_close(tutti_store* store);

/* Makes a team of `ranks` ranks, which are processes of this node. Several threads of a process may
 * each be a rank: each calls it then, with its own store, and has a team of its own. All ranks call
 * it at the same time, with the same name, which no other team has that uses the store. It returns
 * when all have met, or fails at a rank if another has not come after so many seconds. The memory
 * that they share has no name in the file system, so nothing of it is left when they end, however
 * they do. A process may be in many teams, also together with other processes. tutti_team_join then
 * makes the rank's group. The group has all calls of this header. They tell TUTTI_DEAD_PEER if a
 * process that they wait for has ended; a thread that ends before its process is awaited as long as
 * that lives. */
TUTTI_API tutti_status tutti_team_create_by(const tutti_store* store, const char* name, int rank,
                                            int ranks, double seconds, tutti_team** team);

TUTTI_API int tutti_group_rank(const tutti_group* group); /* -1 if group is null */
TUTTI_API int tutti_group_size(const tutti_group* group); /* -1 if group is null */

/* Returns when every rank has entered it. */
TUTTI_API tutti_status tutti_barrier(tutti_group* group);

/* Copies the root's `bytes` bytes at `data` to `data` of all other ranks. */
TUTTI_API tutti_status tutti_bcast(tutti_group* group, void* data, size_t bytes, int root);

/* out[i] = in of rank 0 [i] op in of rank 1 [i] op ..., in rank order, at the root. `out` is
 * ignored elsewhere and may be null there. In place: out = in. */
TUTTI_API tutti_status tutti_reduce(tutti_group* group, const void* in, void* out, size_t count,
                                    tutti_type type, tutti_op op, int root);

/* Like tutti_reduce, but every rank gets the result, with the same bits. In place: out = in. */
TUTTI_API tutti_status tutti_allreduce(tutti_group* group, const void* in, void* out, size_t count,
                                       tutti_type type, tutti_op op);

/* Every rank's `in`, one part, becomes that rank's part of the root's `out`, n parts. At other
 * ranks `out` is ignored and may be null. In place, at the root: in = out + rank * part_bytes. */
TUTTI_API tutti_status tutti_gather(tutti_group* group, const void* in, void* out,
                                    size_t part_bytes, int root);

/* Every rank's `out`, one part, becomes that rank's part of the root's `in`, n parts. At other
 * ranks `in` is ignored and may be null. In place, at the root: out = in + rank * part_bytes. */
TUTTI_API tutti_status tutti_scatter(tutti_group* group, const void* in, void* out,
                                     size_t part_bytes, int root);

/* Like tutti_gather, but every rank gets `out`. In place: in = out + rank * part_bytes. */
TUTTI_API tutti_status tutti_allgather(tutti_group* group, const void* in, void* out,
                                       size_t part_bytes);

/* Part j of rank r's `in` becomes part r of rank j's `out`; both are n parts. In place: out = in.
 */
TUTTI_API tutti_status tutti_alltoall(tutti_group* group, const void* in, void* out,
                                      size_t part_bytes);

/* `in` is n parts of `count` elements; `out`, one part, becomes the rank's part of the reduction of
 * all ranks' `in`. In place: out = in; its first part then holds the result. */
TUTTI_API tutti_status tutti_reduce_scatter(tutti_group* group, const void* in, void* out,
                                            size_t count, tutti_type type, tutti_op op);

/* out[i] = in of rank 0 [i] op ... op in of this rank [i], in rank order. In place: out = in. */
TUTTI_API tutti_status tutti_scan(tutti_group* group, const void* in, void* out, size_t count,
                                  tutti_type type, tutti_op op);

/* Like tutti_scan, but a rank's own `in` is left out of its result. Rank 0 has nothing to combine:
 * its `out` is ignored, is not written and may be null. In place: out = in. */
TUTTI_API tutti_status tutti_exscan(tutti_group* group, const void* in, void* out, size_t count,
                                    tutti_type type, tutti_op op);

/* Calls that start a collective, and its completion. The start publishes what this rank gives and
 * waits for nobody. The completion, by tutti_request_wait or tutti_request_test, takes the results,
 * once the other ranks have started it. So ranks owe each other nothing between the two, and no
 * order of completions, also of several groups', can make ranks wait for each other for ever. All
 * ranks of a group start the same collectives in the same order; they may complete them in any.
 * Between the two, the caller leaves `in` as it is and does not use `out`. Results have the same
 * bits at all ranks. In a group of processes any thread may complete a request, and one at a time
 * starts. The requests of a group end before it. */
typedef struct tutti_request tutti_request;

TUTTI_API tutti_status tutti_ibarrier(tutti_group* group, tutti_request** request);
TUTTI_API tutti_status tutti_ibcast(tutti_group* group, void* data, size_t bytes, int root,
                                    tutti_request** request);
TUTTI_API tutti_status tutti_ireduce(tutti_group* group, const void* in, void* out, size_t count,
                                     tutti_type type, tutti_op op, int root,
                                     tutti_request** request);
TUTTI_API tutti_status tutti_iallreduce(tutti_group* group, const void* in, void* out, size_t count,
                                        tutti_type type, tutti_op op, tutti_request** request);
TUTTI_API tutti_status tutti_igather(tutti_group* group, const void* in, void* out,
                                     size_t part_bytes, int root, tutti_request** request);
TUTTI_API tutti_status tutti_iscatter(tutti_group* group, const void* in, void* out,
                                      size_t part_bytes, int root, tutti_request** request);
TUTTI_API tutti_status tutti_iallgather(tutti_group* group, const void* in, void* out,
                                        size_t part_bytes, tutti_request** request);
TUTTI_API tutti_status tutti_ialltoall(tutti_group* group, const void* in, void* out,
                                       size_t part_bytes, tutti_request** request);
/* Parts of any lengths: part j of `in` is the in_bytes[j] bytes at `in` + in_at[j], and becomes
 * part r of rank j's `out`, which gives the same length. The arrays are read during the call. */
TUTTI_API tutti_status tutti_ialltoallv(tutti_group* group, const void* in, const ptrdiff_t* in_at,
                                        const size_t* in_bytes, void* out, const ptrdiff_t* out_at,
                                        const size_t* out_bytes, tutti_request** request);
TUTTI_API tutti_status tutti_ireduce_scatter(tutti_group* group, const void* in, void* out,
                                             size_t count, tutti_type type, tutti_op op,
                                             tutti_request** request);

/* Messages between two processes of a team, matched by their order among those with the same tag.
 * Sending copies the data and waits for nobody. */
TUTTI_API tutti_status tutti_send(tutti_group* group, int to, uint32_t tag, const void* data,
                                  size_t bytes);
/* The message has `bytes` bytes, or the completion fails. `from` may be TUTTI_ANY: then the
 * completion writes the sender's rank to *sender, which may be null. */
enum { TUTTI_ANY = -2 };
TUTTI_API tutti_status tutti_irecv(tutti_group* group, int from, uint32_t tag, void* data,
                                   size_t bytes, int* sender, tutti_request** request);

/* Completes the request if that needs no wait for a rank that has not started. *complete becomes 1
 * and *request null if so, also if it fails; else *complete becomes 0. */
TUTTI_API tutti_status tutti_request_test(tutti_request** request, int* complete);
/* Waits for at most so many seconds (negative: without a limit), then completes the request. Its
 * result is TUTTI_TIMEOUT if a rank has not started by then; the request is as before. Else
 * *request becomes null. */
TUTTI_API tutti_status tutti_request_wait(tutti_request** request, double seconds);
/* Sets how long the completion waits for a rank that has begun to give its data, or to read this
 * rank's, and does not go on, as one that a signal has stopped: after that the request fails with
 * TUTTI_DEAD_PEER. Without this call it waits as long as the rank's process is there. A rank that
 * goes on later may read what is in the buffer then. */
TUTTI_API tutti_status tutti_request_limit(tutti_request* request, double seconds);
/* Gives a request up: its results are not taken, and the other ranks lose nothing. *request becomes
 * null. */
TUTTI_API tutti_status tutti_request_free(tutti_request** request);
/* Requests of the group that wait fail with TUTTI_UNAVAILABLE or TUTTI_DEAD_PEER, and so do later
 * starts. The other ranks learn nothing of it. Any thread may call it. */
TUTTI_API tutti_status tutti_group_abort(tutti_group* group);
/* Waits for at most so many seconds until the other ranks have read all that this rank has given by
 * starts and messages. Data that they have not read is lost when its process ends. tutti_group_free
 * waits for 10 seconds, but a process may end without it. The result is TUTTI_TIMEOUT if some is
 * left. This rank's own requests must be complete, or be completed by another thread. */
TUTTI_API tutti_status tutti_group_flush(tutti_group* group, double seconds);

/* Threads of the caller, which share long copies and reductions of calls that start, of their
 * completions and of messages: each executes a part of at least 256 KiB. Results have the same bits
 * for any number of threads. */
typedef struct tutti_parallel {
  /* How many threads may share the work of the calling thread now; 1: it works alone. */
  int (*threads)(void* context);
  /* Calls part(argument, number) for each number from 0 to parts - 1, in any threads and any order,
   * and returns when all calls have returned. Parts do not wait for each other. */
  void (*run)(void* context, int parts, void (*part)(void* argument, int number), void* argument);
  void* context;
} tutti_parallel;

/* The group uses these threads from now on. Call it before the group's first start or message;
 * *parallel is copied. Its functions are called in the thread that starts or completes a call, in
 * the midst of that call. So they make no call of Tutti on the group, throw nothing, and do not
 * wait for other ranks. */
TUTTI_API tutti_status tutti_group_set_parallel(tutti_group* group, const tutti_parallel* parallel);

/* Reductions of a shared array: all its elements become one, as in UPC.
 *
 * The array is spread over the ranks in blocks: its block b is at rank b modulo the number of
 * ranks, behind that rank's earlier blocks. `local` is this rank's part: `count` elements without
 * gaps, as many as the rank has, which may differ between ranks. A rank without elements passes 0.
 * `block` is the number of elements in a block, the same at all ranks; a rank's last block may be
 * shorter. 0: the part of each rank is one block.
 *
 * `root` is the rank that gets the result, or TUTTI_ALL: all ranks get it, with the same bits.
 * `out` is one element; it may be an element of `local`. It is ignored at ranks that do not get the
 * result and may be null there.
 *
 * Each rank folds its part, and then one element of each rank travels, so the calls are quick. */
enum { TUTTI_ALL = -1 };

/* Combines by a built-in operation. Ranks without elements contribute the neutral element: 0 of a
 * sum (-0.0 of floating-point numbers, which changes no bit of any number), 1 of a product, the
 * lowest number for TUTTI_MAX and the highest for TUTTI_MIN (infinities of floating-point numbers),
 * all ones for TUTTI_BAND, 1 for TUTTI_LAND, 0 for the others. It is also the result if no rank has
 * elements. Logical results are 0 and 1.
 *
 * These operations commute, so `block` changes nothing. Each rank combines its elements in an order
 * that depends on `count` alone, on every processor (docs/array-reduction.md); parts are then
 * combined as by tutti_reduce. NaNs of sums and products lose their bits; TUTTI_MAX and TUTTI_MIN
 * may pass NaNs over. */
TUTTI_API tutti_status tutti_reduce_array(tutti_group* group, const void* local, size_t count,
                                          size_t block, tutti_type type, tutti_op op, int root,
                                          void* out);

/* A user's operation on elements of `element_bytes` bytes. It is associative. */
typedef struct tutti_user_op {
  /* Appends `count` elements, at least 1, to *folded from the left:
   * *folded = *folded op in[0] op ... op in[count - 1].
   * `in` is aligned as `local` is, or to 64 bytes, and `folded` to 64. It makes no call of Tutti
   * and throws nothing. Ranks call it at the same time, each in its own thread. */
  void (*fold)(void* folded, const void* in, size_t count, void* context);
  void* context; /* passed on to `fold` */
  size_t element_bytes;
  int commutes; /* 0: elements are combined in the order of the array */
  /* An element e with e op x = x op e = x, which ranks without elements contribute. Null: there is
   * none. Such ranks then say that they have no elements. The same choice at all ranks. */
  const void* neutral;
} tutti_user_op;

/* Combines by a user's operation, which is the same at all ranks; *op is read during the call. An
 * operation that does not commute combines the array's elements in their order: block after block,
 * and the blocks of a row of ranks in the order of ranks, as many as each rank has. With `block` =
 * 0 one element of each rank travels, else one of each block. Ranks with different blocks get
 * TUTTI_MISMATCH.
 *
 * TUTTI_EMPTY, at the ranks that get the result: no rank has elements and there is no neutral one.
 * `out` is then unchanged, and the group may be used on. */
TUTTI_API tutti_status tutti_reduce_array_by(tutti_group* group, const void* local, size_t count,
                                             size_t block, const tutti_user_op* op, int root,
                                             void* out);

/* The part of tutti_reduce_array that a rank does alone: *out = in[0] op ... op in[count - 1], in
 * the order said there, or the neutral element. For programs whose ranks are processes: an
 * MPI_Reduce of one element comes next. `out` may be an element of `in`. */
TUTTI_API tutti_status tutti_fold(const void* in, size_t count, tutti_type type, tutti_op op,
                                  void* out);

/* One-sided transfers. The caller names the memory of both sides: `to` and `from` are addresses as
 * their owners have them, and `target` is the rank that owns the other side's memory (of thread
 * ranks, any rank may name any memory of the process). The target does nothing. Bytes that a put
 * writes are there for the target after the put is complete and the caller has told it so, for
 * example by a barrier.
 *
 * A transfer is complete when tutti_test or tutti_wait says so of its handle, or when
 * tutti_wait_all or tutti_fence returns. Until then the caller leaves `from` as it is and does not
 * use `to`. Transfers are not ordered among themselves. A handle that is not needed may be null:
 * tutti_wait_all then completes the transfer.
 *
 * Between processes (those of tutti_team_create_by, and MPI's, tutti/mpi.h) memory from tutti_alloc
 * is reached directly, and all other by the system's copies, where it permits them. A transfer
 * returns TUTTI_INVALID_ARGUMENT if the target does not have the memory, TUTTI_UNAVAILABLE if this
 * process cannot reach it, and TUTTI_DEAD_PEER if the system's copies find that its process has
 * ended; so do tutti_test and the like if a server or a target on another node finds it out.
 *
 * The caller executes transfers itself, unless the team has servers (below), or the target is on
 * another node. Starting one never waits, except for a node's answer (tutti_most_outstanding).
 */
typedef struct tutti_handle {
  uint64_t place[2]; /* all zero: of no transfer, which counts as complete */
} tutti_handle;

/* Copies `bytes` bytes from this rank's `from` to the target's `to`. */
TUTTI_API tutti_status tutti_put(tutti_group* group, int target, void* to, const void* from,
                                 size_t bytes, tutti_handle* handle);
/* Copies `bytes` bytes from the target's `from` to this rank's `to`. */
TUTTI_API tutti_status tutti_get(tutti_group* group, int target, void* to, const void* from,
                                 size_t bytes, tutti_handle* handle);

/* Like tutti_put, and then adds `bytes` to *signal, a word of the target's, aligned to 8 bytes and
 * outside of the data. So the target learns of the data without a message. A long put moves in
 * pieces, in any order, and each adds its bytes when it is there: once *signal has grown by all
 * bytes that were put, by whichever ranks, all of them are there. A put of 0 bytes changes nothing.
 * The target sets the word before the first put, and then only puts change it. Between processes
 * `to` and `signal` are memory from tutti_alloc of the target's, or the result is
 * TUTTI_INVALID_ARGUMENT; TUTTI_UNAVAILABLE: this process does not reach the target's heap. Servers
 * get the put only if the target is on another node; if one dies that has begun it, the completion
 * returns TUTTI_DEAD_PEER, and *signal may count any part of it. Source: OpenSHMEM 1.5, section
 * 9.8, a put with a signal and SHMEM_SIGNAL_ADD, whose number is here that of the bytes. */
TUTTI_API tutti_status tutti_put_signal(tutti_group* group, int target, void* to, const void* from,
                                        size_t bytes, uint64_t* signal, tutti_handle* handle);
/* Returns when *signal, a word of this rank's, is at least `least` bytes: the data that was counted
 * there may be read. Between processes the word is memory from tutti_alloc, or the result is
 * TUTTI_INVALID_ARGUMENT, because no put could reach it. The call answers ranks of other nodes
 * meanwhile, and goes on with the puts that this rank has started. TUTTI_DEAD_PEER: the host MPI
 * has failed to exchange messages with other nodes; or, in a team of tutti_team_create_by, the
 * process of any other rank has ended before tutti_team_free, or all other ranks have called that.
 * A wait that takes TUTTI_STALL_SECONDS says so; with TUTTI_STALL=abort the result is
 * TUTTI_DEAD_PEER, or the job ends if the group spans nodes. A program may also look itself, by a
 * load with acquire and calls of tutti_test. */
TUTTI_API tutti_status tutti_signal_wait(tutti_group* group, const uint64_t* signal,
                                         uint64_t least);

/* tutti_put and tutti_get with `blocks` blocks of `block_bytes` bytes each; block i is
 * `i * to_stride` and `i * from_stride` bytes from `to` and `from`. Strides may be negative. At
 * most 2^31 - 1 blocks. */
TUTTI_API tutti_status tutti_put_strided(tutti_group* group, int target, void* to,
                                         ptrdiff_t to_stride, const void* from,
                                         ptrdiff_t from_stride, size_t block_bytes, size_t blocks,
                                         tutti_handle* handle);
TUTTI_API tutti_status tutti_get_strided(tutti_group* group, int target, void* to,
                                         ptrdiff_t to_stride, const void* from,
                                         ptrdiff_t from_stride, size_t block_bytes, size_t blocks,
                                         tutti_handle* handle);

/* Strict transfers are complete when they return. Each begins when all transfers of the group that
 * this rank has started are complete. The caller executes it; with a target on another node a
 * server may. */
TUTTI_API tutti_status tutti_put_strict(tutti_group* group, int target, void* to, const void* from,
                                        size_t bytes);
TUTTI_API tutti_status tutti_get_strict(tutti_group* group, int target, void* to, const void* from,
                                        size_t bytes);

/* `*complete` becomes 1 if the transfer is complete, and the handle all zero; else 0. A handle
 * whose completion was told already, or of another group, is refused. */
TUTTI_API tutti_status tutti_test(tutti_group* group, tutti_handle* handle, int* complete);
/* Returns when it is complete. The handle becomes all zero. */
TUTTI_API tutti_status tutti_wait(tutti_group* group, tutti_handle* handle);
/* Returns when all transfers that this rank has started are complete. */
TUTTI_API tutti_status tutti_wait_all(tutti_group* group);
/* The same; and later transfers of this rank come after the earlier ones. */
TUTTI_API tutti_status tutti_fence(tutti_group* group);
/* So many transfers of a rank may be outstanding at each server, and so many with other nodes;
 * those that exceed it are complete when their start returns. 0 if group is null. */
TUTTI_API size_t tutti_most_outstanding(const tutti_group* group);

/* Servers: threads that execute the transfers of a team's ranks meanwhile. Idle servers sleep. They
 * run on processing units that the process may use and no rank is bound to, if there are such, and
 * else share those of the ranks. This choice says which transfers they get: */
typedef enum tutti_serve TUTTI_INT {
  TUTTI_SERVE_ALL,       /* every one that a server has room for */
  TUTTI_SERVE_SELECTIVE, /* those that are long enough to gain, if servers have units of their own
                          */
  TUTTI_SERVE_NONE       /* none, until tutti_servers_enable */
} tutti_serve;

/* Starts `servers` servers (1 to 64). Any thread may call it, once until tutti_servers_stop. In a
 * team of tutti_team_create_by each rank may start some, in its process, which serve all ranks; all
 * ranks together may have 4, or as many as TUTTI_SERVERS says. tutti_servers_stop then ends those
 * that this rank has started, and the other functions are for all servers. */
TUTTI_API tutti_status tutti_servers_start(tutti_team* team, int servers, tutti_serve serve);
/* Ends them, when they have executed what they were given. tutti_team_free does, too. */
TUTTI_API tutti_status tutti_servers_stop(tutti_team* team);
/* From now on ranks give transfers to servers, or give none and execute all themselves. */
TUTTI_API tutti_status tutti_servers_enable(tutti_team* team);
TUTTI_API tutti_status tutti_servers_disable(tutti_team* team);
/* Servers poll while they are idle, so that they begin at once; or sleep again. */
TUTTI_API tutti_status tutti_servers_wake(tutti_team* team);
TUTTI_API tutti_status tutti_servers_sleep(tutti_team* team);
/* How many there are; 0 if team is null. */
TUTTI_API int tutti_servers_count(const tutti_team* team);

/* In MPI programs under tutti-run: tutti_group_of_comm of tutti/mpi.h, with the communicator's
 * handle as a number. */
TUTTI_API tutti_status tutti_group_of_communicator(uint64_t communicator, tutti_group** group);
/* The team of this node's MPI processes, from this process's first group to MPI_Finalize, which
 * ends it; null otherwise. tutti_servers_start starts servers in this process, for all ranks of its
 * domain (docs/servers.md), and tutti_servers_stop ends these; the other functions are for all
 * servers of the node. */
TUTTI_API tutti_team* tutti_node_team(void);

/* Memory that all ranks of the node reach directly, so that collectives on it need no copy: `bytes`
 * bytes aligned to 64, not initialised; null if there is none. Thread ranks reach all memory
 * directly; between processes this is so after their first tutti_team_create_by, and in an MPI
 * program under tutti-run, where it is memory from MPI_Alloc_mem, after MPI_Init. Only tutti_free
 * may free it; null is allowed. */
TUTTI_API void* tutti_alloc(size_t bytes);
TUTTI_API void tutti_free(void* memory);

/* The reason why this thread's last failed call failed; never null; valid until this thread's next
 * call. */
TUTTI_API const char* tutti_error_message(void);

/* The state of a rank in one line, for debugging hangs: any thread may call it while another uses
 * the group. Never null; valid until this thread's next call. */
TUTTI_API const char* tutti_standing(const tutti_group* group, int rank);

/* "0.1.0" */
TUTTI_API const char* tutti_version(void);

#ifdef __cplusplus
}
#endif

#endif
