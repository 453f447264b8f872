#!/bin/sh
# The guardian ends the platform's processes when the one that started them is gone, however it went (kill -9 too).
# It reads lines from a pipe that only its parent holds open:
#   + PID SIGNAL STAGE   guard this process; stage 1 is ended before stage 2 (the apps before their databases)
#   - PID                this process has ended by itself
#   d FOLDER             remove this folder last of all: a temporary one
# At the end of the input it signals what is left, stage by stage, and after a while uses KILL.
trap '' INT TERM HUP
guarded=''
folder=''
while IFS= read -r line; do
  case "$line" in
    'd '*) folder=${line#d } ;; # as it is: two blanks in it are two
    *)
      # shellcheck disable=SC2086 -- its words are what is wanted
      set -- $line
      case "$1" in
        +) guarded="$guarded $2:$3:$4" ;;
        -)
          kept=''
          for entry in $guarded; do
            case "$entry" in "$2":*) ;; *) kept="$kept $entry" ;; esac
          done
          guarded=$kept
          ;;
      esac
      ;;
  esac
done

end_stage() {
  pids=''
  for entry in $guarded; do
    case "$entry" in *:"$1")
      pid=${entry%%:*}
      rest=${entry#*:}
      kill -s "${rest%%:*}" "$pid" 2>/dev/null && pids="$pids $pid"
      ;;
    esac
  done
  waited=0
  for pid in $pids; do
    while kill -0 "$pid" 2>/dev/null; do
      if [ "$waited" -ge "$2" ]; then
        kill -s KILL "$pid" 2>/dev/null
        break
      fi
      sleep 0.1
      waited=$((waited + 1))
    done
  done
}

end_stage 1 50
end_stage 2 80
if [ -n "$folder" ]; then rm -rf -- "$folder"; fi
