"""All rows, paper by paper."""

from tutti.papers.hmpi import HMPI
from tutti.papers.mpich2 import MPICH2
from tutti.papers.numacol import NUMACOL
from tutti.papers.paths import PATHS
from tutti.papers.row import Row
from tutti.papers.servers import SERVERS

ROWS: tuple[Row, ...] = (*HMPI, *PATHS, *NUMACOL, *MPICH2, *SERVERS)
