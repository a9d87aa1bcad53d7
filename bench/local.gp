# The plots of docs/engines.md, from what the benchmarks measured; run from the root of the repository:
#
#     ./dev bench --benchmark_filter=local_round --benchmark_out=bench/results/local_round.csv --benchmark_out_format=csv
#     ./dev bench --benchmark_filter=local_tolerance --benchmark_out=bench/results/local_tolerance.csv --benchmark_out_format=csv
#     sed -i '1,/^name,/{/^name,/!d}' bench/results/local_*.csv     # what Google Benchmark says before the table
#     gnuplot bench/local.gp
set terminal svg size 640,360 font "sans-serif,12" background "white"
set datafile separator ","
set datafile columnheaders
set logscale xy
set format x "10^{%L}"
set grid
set key outside top center horizontal

set output "docs/images/local-cost.svg"
set xlabel "users"
set ylabel "milliseconds"
set xrange [5e3:2e6]
set yrange [0.01:10]
plot "bench/results/local_round.csv" using (10**($0 + 4)):(column("update_p99")) with linespoints lw 2 title "update, 99 of 100 below", \
     "" using (10**($0 + 4)):(column("update_median")) with linespoints lw 2 title "update, median", \
     "" using (10**($0 + 4)):(column("select_p99")) with linespoints lw 2 title "select, 99 of 100 below", \
     "" using (10**($0 + 4)):(column("select_median")) with linespoints lw 2 title "select, median"

set output "docs/images/local-accuracy.svg"
set xlabel "tolerance"
set ylabel "score; milliseconds"
set xrange [5e-4:0.2]
set yrange [0.0005:10]
plot "bench/results/local_tolerance.csv" using (10**(-0.5 * ($0 + 2))):(column("bound")) with linespoints lw 2 title "average bound", \
     "" using (10**(-0.5 * ($0 + 2))):(column("bound_p99")) with linespoints lw 2 title "99 of 100 bounds are below", \
     "" using (10**(-0.5 * ($0 + 2))):(column("width")) with linespoints lw 2 title "average width", \
     "" using (10**(-0.5 * ($0 + 2))):(column("cpu_median_ms")) with linespoints lw 2 title "median round (ms)"
