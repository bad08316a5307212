! SPDX-License-Identifier: BSD-3-Clause
! Constructs that a compiler of Fortran has made: twenty small programs, which maint/check-openmp compiles by flang and gfortran.
module programs
  use omp_lib
  implicit none
  integer :: wrong = 0
  integer, save :: own = 5
  !$omp threadprivate(own)
  integer, parameter :: most = 100
contains
  subroutine expect(name, holds)
    character(*), intent(in) :: name
    logical, intent(in) :: holds
    if (holds) return
    wrong = wrong + 1
    print *, 'wrong: ', name
  end subroutine

  subroutine regions()
    integer :: members, level
    members = 0
    level = 0
    !$omp parallel num_threads(3) reduction(+ : members) reduction(max : level)
    members = members + 1
    level = omp_get_level()
    !$omp end parallel
    call expect('regions', members == 3 .and. level == 1 .and. .not. omp_in_parallel())
  end subroutine

  subroutine variables()
    integer :: first, last, mine, i, sum
    first = 7
    sum = 0
    !$omp parallel do num_threads(3) firstprivate(first) private(mine) lastprivate(last) reduction(+ : sum)
    do i = 1, most
      mine = first + i
      last = mine
      sum = sum + mine - first
    end do
    call expect('variables', last == 7 + most .and. sum == most * (most + 1) / 2)
  end subroutine

  subroutine static_loops()
    integer :: i, seen(most)
    seen = 0
    !$omp parallel num_threads(3)
    !$omp do schedule(static)
    do i = 1, most
      seen(i) = seen(i) + 1
    end do
    !$omp end do nowait
    !$omp do schedule(static, 7)
    do i = most, 1, -1
      !$omp atomic
      seen(i) = seen(i) + 1
    end do
    !$omp end parallel
    call expect('static loops', all(seen == 2))
  end subroutine

  subroutine dynamic_loops()
    integer :: i, seen(most)
    integer(8) :: wide
    seen = 0
    !$omp parallel do schedule(dynamic, 3) num_threads(3)
    do i = 1, most
      seen(i) = seen(i) + 1
    end do
    !$omp parallel do schedule(guided) num_threads(3)
    do wide = 1, most
      seen(wide) = seen(wide) + 1
    end do
    call omp_set_schedule(omp_sched_dynamic, 5)
    !$omp parallel do schedule(runtime) num_threads(3)
    do i = 1, most
      seen(i) = seen(i) + 1
    end do
    call expect('dynamic loops', all(seen == 3))
  end subroutine

  subroutine ordered_loops()
    integer :: i, next
    logical :: in_order
    next = 1
    in_order = .true.
    !$omp parallel do ordered schedule(dynamic, 2) num_threads(3)
    do i = 1, most
      !$omp ordered
      in_order = in_order .and. next == i
      next = next + 1
      !$omp end ordered
    end do
    call expect('ordered loops', in_order .and. next == most + 1)
  end subroutine

  subroutine sections_of_two()
    integer :: a, b
    a = 0
    b = 0
    !$omp parallel sections num_threads(2)
    !$omp section
    a = 1
    !$omp section
    b = 2
    !$omp end parallel sections
    call expect('sections', a == 1 .and. b == 2)
  end subroutine

  subroutine singles()
    integer :: value, times, sum
    times = 0
    sum = 0
    !$omp parallel num_threads(3) private(value) shared(times) reduction(+ : sum)
    !$omp single
    value = 11
    times = times + 1
    !$omp end single copyprivate(value)
    sum = sum + value
    !$omp end parallel
    call expect('single and copyprivate', times == 1 .and. sum == 33)
  end subroutine

  subroutine criticals()
    integer :: count, others, i
    count = 0
    others = 0
    !$omp parallel num_threads(3) private(i)
    do i = 1, most
      !$omp critical
      count = count + 1
      !$omp end critical
      !$omp critical (named)
      others = others + 1
      !$omp end critical (named)
    end do
    !$omp end parallel
    call expect('critical', count == 3 * most .and. others == 3 * most)
  end subroutine

  subroutine atomics()
    integer :: i, count, before
    real(8) :: real_sum
    complex(8) :: complex_sum
    count = 0
    real_sum = 0
    complex_sum = 0
    !$omp parallel do num_threads(3) private(before)
    do i = 1, most
      !$omp atomic capture
      before = count
      count = count + 1
      !$omp end atomic
      !$omp atomic
      real_sum = real_sum + 0.5d0
      !$omp critical
      complex_sum = complex_sum + (1d0, 2d0)
      !$omp end critical
    end do
    call expect('atomic', count == most .and. real_sum == most * 0.5d0 .and. complex_sum == most * (1d0, 2d0))
  end subroutine

  subroutine barriers()
    integer :: rounds(3), i, me
    logical :: holds
    rounds = 0
    holds = .true.
    !$omp parallel num_threads(3) private(i, me) reduction(.and. : holds)
    me = omp_get_thread_num() + 1
    do i = 1, 50
      rounds(me) = i
      !$omp barrier
      holds = holds .and. all(rounds == i)
      !$omp barrier
    end do
    !$omp end parallel
    call expect('barriers', holds)
  end subroutine

  subroutine masters()
    integer :: who
    who = -1
    !$omp parallel num_threads(3)
    !$omp master
    who = omp_get_thread_num()
    !$omp end master
    !$omp end parallel
    call expect('master', who == 0)
  end subroutine

  recursive subroutine fib(n, value)
    integer, value :: n
    integer, intent(out) :: value
    integer :: a, b
    if (n < 2) then
      value = n
      return
    end if
    !$omp task shared(a)
    call fib(n - 1, a)
    !$omp end task
    !$omp task shared(b)
    call fib(n - 2, b)
    !$omp end task
    !$omp taskwait
    value = a + b
  end subroutine

  subroutine tasks()
    integer :: value
    !$omp parallel num_threads(3)
    !$omp single
    call fib(16, value)
    !$omp end single
    !$omp end parallel
    call expect('tasks', value == 987)
  end subroutine

  subroutine task_groups()
    integer :: i, count
    count = 0
    !$omp parallel num_threads(3)
    !$omp single
    !$omp taskgroup
    do i = 1, most
      !$omp task shared(count)
      !$omp atomic
      count = count + 1
      !$omp end task
    end do
    !$omp end taskgroup
    call expect('task groups', count == most)
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine dependences()
    integer :: a, b
    a = 0
    b = 0
    !$omp parallel num_threads(3)
    !$omp single
    !$omp task depend(out : a) shared(a)
    a = 3
    !$omp end task
    !$omp task depend(in : a) depend(out : b) shared(a, b)
    b = a + 1
    !$omp end task
    !$omp task depend(inout : b) shared(b)
    b = b * 10
    !$omp end task
    !$omp end single
    !$omp end parallel
    call expect('dependences', b == 40)
  end subroutine

  subroutine copies_of_threads()
    integer :: sum
    own = 20
    sum = 0
    !$omp parallel num_threads(3) copyin(own) reduction(+ : sum)
    own = own + omp_get_thread_num()
    !$omp barrier
    sum = sum + own
    !$omp end parallel
    call expect('threadprivate and copyin', sum == 63)
  end subroutine

  subroutine locks()
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nested
    integer :: count, depth, i
    count = 0
    depth = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nested)
    !$omp parallel num_threads(3) private(i)
    do i = 1, most
      call omp_set_lock(lock)
      count = count + 1
      call omp_unset_lock(lock)
      call omp_set_nest_lock(nested)
      call omp_set_nest_lock(nested)
      depth = depth + 1
      call omp_unset_nest_lock(nested)
      call omp_unset_nest_lock(nested)
    end do
    !$omp end parallel
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nested)
    call expect('locks', count == 3 * most .and. depth == 3 * most)
  end subroutine

  subroutine nested_regions()
    integer :: members
    members = 0
    call omp_set_max_active_levels(2)
    !$omp parallel num_threads(2) reduction(+ : members)
    !$omp parallel num_threads(3) reduction(+ : members)
    members = members + 1
    !$omp end parallel
    !$omp end parallel
    call omp_set_max_active_levels(1)
    call expect('regions in regions', members == 6)
  end subroutine

  subroutine workshares()
    real(8) :: a(most), b(most)
    b = 2
    !$omp parallel num_threads(3)
    !$omp workshare
    a = b * 3
    where (a > 5) a = a + 1
    !$omp end workshare
    !$omp end parallel
    call expect('workshare', all(a == 7))
  end subroutine

  subroutine reductions()
    integer :: i, least, bits
    real(8) :: product
    logical :: all_hold
    least = 1000
    bits = 0
    product = 1
    all_hold = .true.
    !$omp parallel do num_threads(3) reduction(min : least) reduction(ior : bits) reduction(* : product) reduction(.and. : all_hold)
    do i = 1, 20
      least = min(least, i)
      bits = ior(bits, i)
      product = product * 2
      all_hold = all_hold .and. i > 0
    end do
    call expect('reductions', least == 1 .and. bits == 31 .and. product == 2d0**20 .and. all_hold)
  end subroutine

  subroutine routines()
    integer :: kind, chunk
    real(8) :: begin
    begin = omp_get_wtime()
    call omp_set_num_threads(4)
    call omp_set_schedule(omp_sched_guided, 6)
    call omp_get_schedule(kind, chunk)
    call expect('routines', omp_get_max_threads() == 4 .and. kind == omp_sched_guided .and. chunk == 6 .and. &
                omp_get_wtime() >= begin .and. omp_get_num_procs() > 0 .and. omp_get_thread_limit() > 0)
  end subroutine
end module

program fortran
  use programs
  implicit none
  call regions()
  call variables()
  call static_loops()
  call dynamic_loops()
  call ordered_loops()
  call sections_of_two()
  call singles()
  call criticals()
  call atomics()
  call barriers()
  call masters()
  call tasks()
  call task_groups()
  call dependences()
  call copies_of_threads()
  call locks()
  call nested_regions()
  call workshares()
  call reductions()
  call routines()
  if (wrong > 0) error stop 'some programs are wrong'
  print *, '20 programs are right'
end program
