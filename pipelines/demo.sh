#!/usr/bin/env bash
# The whole method in minutes on a CPU: what do right and wrong traces teach a small model?
#
#   pipelines/demo.sh                   about 15 minutes on 2 cores
#   DEMO_SIZE=tiny pipelines/demo.sh    about 4 minutes, for a first look
#
# Interrupt it whenever you like; the same command goes on where it stopped.
set -euo pipefail

run=${RUN:-runs/demo}
model=${MODEL:-models/smollm2}
case ${DEMO_SIZE:-full} in
    full) problems=520 arm=260 held_out=100 ;;
    tiny) problems=200 arm=90 held_out=40 ;;
    *) echo "DEMO_SIZE is full or tiny" >&2; exit 2 ;;
esac

[ "$model" != models/smollm2 ] || cotdata model import smollm2 -o "$model"

# Countdown problems, and others that are not among them.
train=$(cotdata ingest "countdown:n=$problems,numbers=2,max=50" -o "$run/train")
test=$(cotdata ingest "countdown:n=$held_out,numbers=2,max=50,split=test" -o "$run/test")

# Arm H: a solver's traces. Arms G and W: what the untouched model writes itself.
solver=$(cotdata human "$train" -o "$run/solver")
raw=$(cotdata sample "$train" --model "$model" --shots 3 --style plain --max-tokens 40 -o "$run/raw")
verified=$(cotdata verify "$raw" -o "$run/verified")
cotdata filter "$verified" --verdict correct -o "$run/G" || [ $? = 3 ]
wrong=$(cotdata filter "$verified" --verdict wrong --rows "$arm" -o "$run/W")
right=$(cotdata filter "$solver" --rows "$arm" -o "$run/H")

# One student for each arm, from the same start, on as many traces.
student_h=$(cotdata train "$right" --student "$model" --lr 1e-4 -o "$run/student-H")
student_w=$(cotdata train "$wrong" --student "$model" --lr 1e-4 -o "$run/student-W")

# Held-out problems. All are asked alike; the untouched model also after worked examples.
results=()
evaluate() {
    results+=("$(cotdata eval "$2" --on "$test" --max-tokens 48 "${@:3}" -o "$run/results/$1")")
}
evaluate untouched "$model"
evaluate untouched-3-shot "$model" --shots 3 --style plain
evaluate student-H "$student_h"
evaluate student-W "$student_w"

cotdata report "${results[@]}" "$right" "$wrong" -o "$run/report.html"
