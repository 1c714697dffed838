#include "mpi/roll/inquiry.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tutti::mpi::roll {
namespace {

// A rank that is asked in the moment in which it ends greets and says farewell at once. The one who
// asked would otherwise report that it had ended without MPI_Finalize.
TEST(Inquiry, GivesWhatComesWithTheGreeting) {
  const std::string job = "inquiry-test-" + std::to_string(getpid());
  const Descriptor listener = listen_here(job, 0, 1);
  ASSERT_TRUE(listener);
  Inquiry inquiry({door_here(job, 0, 1)}, "watch");
  const Descriptor asker = accept_own_user(listener);
  ASSERT_TRUE(asker);
  EXPECT_EQ(receive_line(asker, 1000), "watch");
  ASSERT_TRUE(send_text(asker, std::string(is_there) + "bye\n"));
  inquiry.go_on(POLLIN);
  EXPECT_EQ(inquiry.state(), Inquiry::State::greeted);
  const auto [connection, text] = inquiry.release();
  EXPECT_TRUE(connection);
  EXPECT_EQ(text, "bye\n");
}

}  // namespace
}  // namespace tutti::mpi::roll
