C SPDX-License-Identifier: BSD-3-Clause
C Messages of a process to itself by mpif.h, for fortran.c.
      SUBROUTINE F77RECEIVE(ROUNDS, TOTAL)
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER ROUNDS, TOTAL, I, VALUE, ERROR
      INTEGER STATUS(MPI_STATUS_SIZE)
      DO 10 I = 1, ROUNDS
         CALL MPI_RECV(VALUE, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF,
     &                 STATUS, ERROR)
         IF (STATUS(MPI_TAG) .EQ. 1) TOTAL = TOTAL + VALUE
   10 CONTINUE
      END

      SUBROUTINE F77SEND(ROUNDS)
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER ROUNDS, I, ERROR
      DO 10 I = 1, ROUNDS
         CALL MPI_SEND(I, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ERROR)
   10 CONTINUE
      END
