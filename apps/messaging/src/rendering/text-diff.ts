import { structuredPatch } from 'diff';
import type { ComparedText } from './render-job.js';

/**
 * What became of texts, line by line. Runs inside the renderer's process, bounded as a rendering is: it may import
 * packages, and nothing of the application but types.
 */

/** Around each change. */
const CONTEXT_LINES = 3;
/** Of all texts together; below the time the process is left. */
const MILLISECONDS = 250;
const MOST_EDITS = 5_000;
/** Characters, of all texts together. */
const LONGEST = 512 * 1024;

/** The unified lines of each pair, by name; left out where they are too many, or the texts too different to be told. */
export function unifiedOf(pairs: readonly ComparedText[]): Record<string, string> {
  const until = Date.now() + MILLISECONDS;
  const unified: Record<string, string> = {};
  let room = LONGEST;
  // The small ones first: one hard text takes the time of no other.
  for (const { name, from, to } of pairs.toSorted((one, other) => sizeOf(one) - sizeOf(other))) {
    const timeout = until - Date.now();
    if (timeout <= 0) break;
    const lines = linesOf(from, to, timeout);
    if (lines === undefined || lines.length > room) continue;
    unified[name] = lines;
    room -= lines.length;
  }
  return unified;
}

const sizeOf = ({ from, to }: ComparedText): number => from.length + to.length;

function linesOf(from: string, to: string, timeout: number): string | undefined {
  const patch = structuredPatch('', '', from, to, '', '', {
    context: CONTEXT_LINES,
    timeout,
    maxEditLength: MOST_EDITS,
  });
  return patch?.hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines.filter(isOfText)].join('\n'),
    )
    .join('\n');
}

/** Whether a text ends in a line break is nobody's question here. */
function isOfText(line: string): boolean {
  return !line.startsWith('\\');
}
