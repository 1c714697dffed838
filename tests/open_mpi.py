"""How the tests start Open MPI."""

import tempfile

# In each process Open MPI's parts for libfabric take a second of waiting and 0.1 s of a core at the
# start (5.0.8), also where nothing uses them. What is left is what tests/hosts/mpiexec chooses, too.
WITHOUT_LIBFABRIC = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^ofi,uct,openib,usnic"}

# Launchers of Open MPI 4 share a directory of the user's, which each removes at its end if it finds
# it empty. One that begins at that moment fails ("unable to create the desired directory"), so each
# process that runs tests has a directory of its own for its launchers.
_sessions = tempfile.TemporaryDirectory(prefix="ompi-", ignore_cleanup_errors=True)
OWN_SESSIONS = {"OMPI_MCA_orte_tmpdir_base": _sessions.name}
