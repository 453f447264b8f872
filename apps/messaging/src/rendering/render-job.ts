/**
 * How a part is treated: `html` escapes every value; `text` leaves values as they are; `line` is a header, and a line
 * break or control character in it becomes a space.
 */
export type PartMode = 'html' | 'text' | 'line';

/** One liquid source. */
export interface PartSource {
  readonly name: string;
  readonly mode: PartMode;
  readonly source: string;
}

/** What a template may read, and nothing else (messaging.md §4). */
export interface RenderScope {
  readonly data: Record<string, unknown>;
  readonly contact: Record<string, unknown>;
  /** The domain event's `data` when an event led to the send. */
  readonly event: Record<string, unknown> | null;
  readonly unsubscribe_url: string | null;
}

/** What the renderer's process is asked. */
export type RenderJob =
  | {
      readonly id: number;
      readonly kind: 'render';
      readonly parts: readonly PartSource[];
      readonly scope: RenderScope;
      readonly strict: boolean;
    }
  | { readonly id: number; readonly kind: 'check'; readonly parts: readonly PartSource[] }
  | { readonly id: number; readonly kind: 'derive_text'; readonly html: string }
  | { readonly id: number; readonly kind: 'compile_mjml'; readonly mjml: string };

/** Why a template gave no text. The codes are those of messaging.md §13. */
export interface RenderFailureReason {
  readonly code: 'template_invalid' | 'render_failed' | 'render_limit_exceeded';
  readonly part: string | null;
  readonly detail: string;
}

/** What the renderer's process answers; `cpu` is the milliseconds of CPU it has used in its life. */
export type RenderReply = { readonly id: number; readonly cpu: number } & (
  { readonly parts: Readonly<Record<string, string>> } | { readonly failure: RenderFailureReason }
);

/** Limits of one rendering (messaging.md §4). */
export const RENDER_LIMITS = { milliseconds: 500, heapMiB: 64, outputBytes: 512 * 1024 } as const;
