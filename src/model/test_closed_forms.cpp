#include "model/test_closed_forms.h"

#include <algorithm>
#include <bit>

#include "algo/branch.h"

namespace tutti::model {
namespace {

// ceil(log_n(count)), by integers.
int32_t ceil_log(int32_t count, int32_t n) {
  int32_t levels = 0;
  for (int64_t reached = 1; reached < count; reached *= n) ++levels;
  return levels;
}

int32_t floor_log2(int32_t count) { return std::bit_width(static_cast<uint32_t>(count)) - 1; }

}  // namespace

int32_t Sockets::leaves() const { return algo::leaves_without_congestion(q, alpha.b, alpha.B); }

double Sockets::reduce_within(double m) const {
  if (q == 1) return 0;
  const int32_t d = leaves();
  return alpha.a + (q - d) * alpha.B * m + (alpha.a + alpha.b * m) * ceil_log(d, 2);
}

double Sockets::reduce_within(double m, int32_t degree) const {
  return (degree - 1) * (alpha.a + alpha.b * m) * ceil_log(q, degree);
}

double Sockets::reduce_between(double m) const { return (beta.a + beta.b * m) * ceil_log(s, 2); }

double Sockets::reduce(double m) const { return reduce_within(m) + reduce_between(m); }

double Sockets::bcast_in_two_stages(double m) const {
  return alpha.a + alpha.B * (q - 1) * m + beta.a + beta.b * m;
}

double Sockets::bcast_in_one_stage(double m) const { return beta.a + beta.B * q * m; }

double Sockets::bcast(double m) const {
  return std::min(bcast_in_two_stages(m), bcast_in_one_stage(m));
}

double Sockets::allreduce_by_tree(double m) const { return reduce(m) + bcast(m); }

double Sockets::dissemination(double m) const {
  return (alpha.a + alpha.B * q * m) * floor_log2(q) + (beta.a + beta.B * q * m) * floor_log2(s);
}

double Sockets::dissemination_at_most(double m) const {
  return (alpha.a + alpha.B * q * m) * (ceil_log(q, 2) + 2) +
         (beta.a + beta.B * q * m) * (ceil_log(q * s, 2) - floor_log2(q) - 1);
}

double Sockets::tiled_within(double m) const { return alpha.a * q + alpha.B * q * m; }

double Sockets::tiled_between(double m) const { return (beta.a + beta.B * m) * ceil_log(s, 2); }

double Sockets::tiled_reduce(double m) const { return tiled_within(m) + tiled_between(m); }

double Sockets::allreduce_tiled(double m) const { return tiled_reduce(m) + bcast(m); }

double one_line(double own, double socket, double remote) {
  return 3 * (socket + 2 * own) + (remote + 2 * own) + (remote + own);
}

double one_line_on_four_sockets(double own, double socket, double remote, double diagonal) {
  return 3 * (socket + 2 * own) + 2 * (remote + 2 * own) + (diagonal + own) + (socket + own);
}

}  // namespace tutti::model
