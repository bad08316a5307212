! SPDX-License-Identifier: BSD-3-Clause
! Messages of a process to itself by mpi_f08, for fortran.c.
subroutine f08receive(rounds, total)
  use mpi_f08
  implicit none
  integer :: rounds, total, i, value
  type(MPI_Status) :: status

  do i = 1, rounds
    call MPI_Recv(value, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status)
    if (status%MPI_TAG == 1) total = total + value
  end do
end subroutine

subroutine f08send(rounds)
  use mpi_f08
  implicit none
  integer :: rounds, i

  do i = 1, rounds
    call MPI_Send(i, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  end do
end subroutine
