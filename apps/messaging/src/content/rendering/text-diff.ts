import { structuredPatch, type StructuredPatchHunk } from 'diff';
import type { ComparedText } from '../../vocabulary/rendering/render-job.js';

/**
 * What became of texts, line by line. Runs inside the renderer's process, bounded as a rendering is: it may import
 * packages, and nothing of the application but types.
 */

/** Around each change. */
const CONTEXT_LINES = 3;
/** Of the processor, for all texts together; below the time the process is left. */
const MILLISECONDS = 250;
/** How often a text is compared whose time was over while it waited for the processor, on a busy machine. */
const ATTEMPTS = 3;
const MOST_EDITS = 5_000;
/** Characters, of all texts together. */
const LONGEST = 512 * 1024;

/** The unified lines of each pair, by name; left out where they are too many, or the texts too different to be told. */
export function unifiedOf(pairs: readonly ComparedText[]): Record<string, string> {
  const started = cpuMilliseconds();
  const left = (): number => MILLISECONDS - (cpuMilliseconds() - started);
  const unified: Record<string, string> = {};
  let room = LONGEST;
  // The small ones first: one hard text takes the time of no other.
  for (const { name, from, to } of pairs.toSorted((one, other) => sizeOf(one) - sizeOf(other))) {
    const lines = linesOf(from, to, left);
    if (lines === undefined || lines.length > room) continue;
    unified[name] = lines;
    room -= lines.length;
  }
  return unified;
}

const sizeOf = ({ from, to }: ComparedText): number => from.length + to.length;

function linesOf(from: string, to: string, left: () => number): string | undefined {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const timeout = left();
    if (timeout <= 0) return undefined;
    const before = Date.now();
    const patch = structuredPatch('', '', from, to, '', '', {
      context: CONTEXT_LINES,
      timeout,
      maxEditLength: MOST_EDITS,
    });
    if (patch) return patch.hunks.map(linesOfHunk).join('\n');
    // The library goes by the clock on the wall, the budget by the processor's.
    if (Date.now() - before < timeout) return undefined;
  }
  return undefined;
}

function linesOfHunk({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): string {
  return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines.filter(isOfText)].join('\n');
}

function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Whether a text ends in a line break is nobody's question here. */
function isOfText(line: string): boolean {
  return !line.startsWith('\\');
}
