"""How the tests start Open MPI."""

# In each process Open MPI's parts for libfabric take a second of waiting and 0.1 s of a core at the
# start (5.0.8), also where nothing uses them. What is left is what tests/hosts/mpiexec chooses, too.
WITHOUT_LIBFABRIC = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^ofi,uct,openib,usnic"}
