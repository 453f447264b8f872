import { fileURLToPath } from 'node:url';
import { RENDER_LIMITS } from '../../vocabulary/rendering/render-job.js';

/** How a kind of process is run: what it may cost, and how long it stays when nobody asks. */
export interface RenderProfile {
  /** The file it runs. */
  readonly child: string;
  readonly milliseconds: number;
  /** A starved machine is given this long before a question that used little CPU is stopped all the same. */
  readonly wallMilliseconds: number;
  readonly heapMiB: number;
  readonly processes: number;
  readonly idleMilliseconds: number;
}

/** Liquid: messaging.md §4's limits. */
export const LIQUID_PROFILE: RenderProfile = {
  child: fileOf('render-child'),
  milliseconds: RENDER_LIMITS.milliseconds,
  wallMilliseconds: 2_000,
  heapMiB: RENDER_LIMITS.heapMiB,
  processes: 2,
  idleMilliseconds: 60_000,
};

/** Liquid that somebody waits for at a desk, previewed or checked on saving: never in the way of what is sent. */
export const DESK_PROFILE: RenderProfile = { ...LIQUID_PROFILE, processes: 1, idleMilliseconds: 15_000 };

/**
 * MJML, which is compiled when somebody saves it and never when a message is sent. The compiler alone takes 57 MiB of
 * heap, so it has more room than liquid, is one process, and goes away soon.
 */
export const MJML_PROFILE: RenderProfile = {
  child: fileOf('mjml-child'),
  milliseconds: 2_000,
  wallMilliseconds: 4_000,
  heapMiB: 160,
  processes: 1,
  idleMilliseconds: 15_000,
};

// In development and tests a file runs from source, beside sources; built, beside built files.
function fileOf(name: string): string {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return fileURLToPath(new URL(`./${name}${extension}`, import.meta.url));
}
