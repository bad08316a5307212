module echo

go 1.20
