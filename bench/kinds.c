#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const bench_collective_names[BENCH_COLLECTIVES] = {
#define BENCH_COLLECTIVE(constant, name, ...) [constant] = #name,
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
};
const BenchShape bench_shapes[BENCH_COLLECTIVES] = {
#define BENCH_COLLECTIVE(constant, name, persistent, ...) [constant] = {__VA_ARGS__},
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
};
const char* const bench_communicator_names[BENCH_COMMUNICATORS] = {[BENCH_WORLD] = "world",
                                                                   [BENCH_DUP] = "dup"};

const char* const bench_form_names[BENCH_FORMS] = {[BENCH_BLOCKING] = "blocking",
                                                   [BENCH_NONBLOCKING] = "nonblocking",
                                                   [BENCH_PERSISTENT] = "persistent"};

const char* const bench_lengths_names[BENCH_LENGTHS] = {
    [BENCH_RAMP] = "ramp", [BENCH_EQUAL] = "equal", [BENCH_HEAVY] = "heavy"};

static bool same_word(const char* word, size_t length, const char* name) {
  return strlen(name) == length && strncmp(word, name, length) == 0;
}

int bench_word(const char* const* names, int known, const char* word, size_t length) {
  int number = 0;
  while (number < known && !same_word(word, length, names[number])) ++number;
  return number;
}

/* Reads a whole number at `word`; returns the number of its digits, 0 if there is no number or too
 * many digits. */
static size_t parse_digits(const char* word, size_t length, size_t* number) {
  size_t digits = 0;
  *number = 0;
  for (; digits < length && word[digits] >= '0' && word[digits] <= '9'; ++digits) {
    if (digits == 10) return 0;
    *number = 10 * *number + (size_t)(word[digits] - '0');
  }
  return digits;
}

bool bench_parse_bytes(const char* word, size_t length, size_t* bytes) {
  const size_t most = (size_t)1 << 30, digits = parse_digits(word, length, bytes);
  if (digits == 0 || *bytes > most) return false;
  if (digits + 1 == length && word[digits] == 'K')
    *bytes <<= 10;
  else if (digits + 1 == length && word[digits] == 'M')
    *bytes <<= 20;
  else if (digits != length)
    return false;
  return *bytes > 0 && *bytes <= most;
}

static bool same(const BenchKind* one, const BenchKind* other) {
  return one->collective == other->collective && one->bytes == other->bytes &&
         one->element == other->element && one->root == other->root &&
         one->communicator == other->communicator && one->form == other->form &&
         one->lengths == other->lengths;
}

static bool contains(const BenchKinds* kinds, const BenchKind* kind) {
  int place = 0;
  while (place < kinds->count && !same(&kinds->kinds[place], kind)) ++place;
  return place < kinds->count;
}

bool kinds_append(BenchKinds* kinds, BenchKind kind) {
  if (kinds->count == kinds->room) {
    const int room = kinds->room > 0 ? 2 * kinds->room : 32;
    BenchKind* const moved = realloc(kinds->kinds, (size_t)room * sizeof *moved);
    if (moved == NULL) return false;
    kinds->kinds = moved;
    kinds->room = room;
  }
  kinds->kinds[kinds->count++] = kind;
  return true;
}

bool kinds_add(BenchKinds* kinds, BenchKind kind) {
  return contains(kinds, &kind) || kinds_append(kinds, kind);
}

bool kinds_in_forms(BenchKinds* kinds, const WordList* forms) {
  BenchKinds every = {.count = 0};
  for (int i = 0; i < kinds->count; ++i) {
    const bool open = kinds->kinds[i].form == BENCH_BLOCKING;
    for (int f = 0; f < (open ? forms->count : 1); ++f) {
      BenchKind kind = kinds->kinds[i];
      if (open) kind.form = (BenchForm)forms->chosen[f];
      if (kinds_add(&every, kind)) continue;
      free(every.kinds);
      return false;
    }
  }
  free(kinds->kinds);
  *kinds = every;
  return true;
}

/* Reads a word after the collective and its bytes: a root, an element, a communicator, lengths or a
 * form. */
static bool parse_detail(BenchKind* kind, const char* word, size_t length, int ranks) {
  const int element = bench_word(pattern_element_names, PATTERN_ELEMENTS, word, length),
            communicator = bench_word(bench_communicator_names, BENCH_COMMUNICATORS, word, length),
            form = bench_word(bench_form_names, BENCH_FORMS, word, length),
            lengths = bench_word(bench_lengths_names, BENCH_LENGTHS, word, length);
  if (element != PATTERN_ELEMENTS) return kind->element = (PatternElement)element, true;
  if (communicator != BENCH_COMMUNICATORS)
    return kind->communicator = (BenchCommunicator)communicator, true;
  if (form != BENCH_FORMS) return kind->form = (BenchForm)form, true;
  if (lengths != BENCH_LENGTHS && bench_shapes[kind->collective].uneven)
    return kind->lengths = (BenchLengths)lengths, true;
  size_t root;
  if (!bench_shapes[kind->collective].rooted || length == 0 ||
      parse_digits(word, length, &root) != length)
    return false;
  kind->root = (int)(root % (size_t)ranks);
  return true;
}

static bool parse_kind(BenchKind* kind, const char* word, size_t length, int ranks) {
  const char *end = word + length, *colon = memchr(word, ':', length);
  *kind = (BenchKind){
      .collective = (BenchCollective)bench_word(bench_collective_names, BENCH_COLLECTIVES, word,
                                                colon != NULL ? (size_t)(colon - word) : length)};
  if (kind->collective == BENCH_COLLECTIVES) return false;
  bool sized = kind->collective == BENCH_BARRIER;
  while (colon != NULL) {
    const char* const detail = colon + 1;
    colon = memchr(detail, ':', (size_t)(end - detail));
    const size_t letters = (size_t)((colon != NULL ? colon : end) - detail);
    if (!sized)
      sized = bench_parse_bytes(detail, letters, &kind->bytes);
    else if (!parse_detail(kind, detail, letters, ranks))
      return false;
    if (!sized) return false;
  }
  return sized && kind->bytes % pattern_element_bytes[kind->element] == 0;
}

bool kinds_parse(BenchKinds* kinds, const char* words, int ranks, char message[256]) {
  if (strcmp(words, "programs") == 0) words = BENCH_PROGRAMS;
  for (const char* word = words;; ++word) {
    const size_t length = strcspn(word, ",");
    BenchKind kind;
    if (!parse_kind(&kind, word, length, ranks)) {
      snprintf(message, 256,
               "kind '%.*s' is not accepted; a kind is "
               "COLLECTIVE:BYTES[:ROOT][:uint32][:dup][:LENGTHS][:FORM], as in bcast:4K:1",
               (int)(length < 60 ? length : 60), word);
      return false;
    }
    if (!kinds_add(kinds, kind)) {
      snprintf(message, 256, "no memory for the kinds");
      return false;
    }
    word += length;
    if (*word == '\0') return true;
  }
}

void kind_word(const BenchKind* kind, char word[BENCH_KIND_WORD]) {
  static const char* const units[] = {"", "K", "M"};
  size_t length =
      (size_t)snprintf(word, BENCH_KIND_WORD, "%s", bench_collective_names[kind->collective]);
  if (kind->bytes > 0) {
    size_t number = kind->bytes;
    int unit = 0;
    for (; unit < 2 && number % 1024 == 0; ++unit) number /= 1024;
    length +=
        (size_t)snprintf(word + length, BENCH_KIND_WORD - length, ":%zu%s", number, units[unit]);
  }
  if (bench_shapes[kind->collective].rooted)
    length += (size_t)snprintf(word + length, BENCH_KIND_WORD - length, ":%d", kind->root);
  const char* const details[] = {
      kind->element != PATTERN_DOUBLE ? pattern_element_names[kind->element] : NULL,
      kind->communicator != BENCH_WORLD ? bench_communicator_names[kind->communicator] : NULL,
      kind->lengths != BENCH_RAMP ? bench_lengths_names[kind->lengths] : NULL,
      kind->form != BENCH_BLOCKING ? bench_form_names[kind->form] : NULL};
  for (size_t i = 0; i < sizeof details / sizeof *details; ++i) {
    if (details[i] != NULL)
      length += (size_t)snprintf(word + length, BENCH_KIND_WORD - length, ":%s", details[i]);
  }
}
