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
  /** Null: withheld. Whatever reads it fails with `not_permitted`, whoever the contact is. */
  readonly contact: Record<string, unknown> | null;
  /** The domain event's `data` when an event led to the send. */
  readonly event: Record<string, unknown> | null;
  readonly unsubscribe_url: string | null;
  /** Read by no template: in which language and zone the `date` filters write. UTC and English unless said. */
  readonly dates?: { readonly locale: string | null; readonly timezone: string | null };
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
  | {
      readonly id: number;
      readonly kind: 'review';
      readonly parts: readonly PartSource[];
      /** Rendered; null where the message has none. */
      readonly html: string | null;
    }
  | { readonly id: number; readonly kind: 'compare'; readonly pairs: readonly ComparedText[] }
  | { readonly id: number; readonly kind: 'compile_mjml'; readonly mjml: string };

/** A text as it was and as it became. */
export interface ComparedText {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** What a part reads of its scope: `['data', 'order', 'id']`. */
export interface VariableUse {
  readonly part: string;
  readonly path: readonly string[];
}

/** What a rendered document holds that its readers may stumble over. */
export interface MarkupFinding {
  readonly code: 'image_without_alt' | 'link_not_https';
  /** The address of the image or link, cut. */
  readonly address: string;
  /** Of the rendered document, from 1. */
  readonly line: number;
}

/** What is worth a word about a message, as far as its source and its markup tell. */
export interface MessageReview {
  readonly uses: readonly VariableUse[];
  readonly findings: readonly MarkupFinding[];
}

/** Why a template gave no text. The codes are those of messaging.md §13, and a send's reason where the contact is withheld. */
export interface RenderFailureReason {
  readonly code: 'template_invalid' | 'render_failed' | 'render_limit_exceeded' | 'not_permitted';
  readonly part: string | null;
  readonly detail: string;
}

/** What the renderer's process answers; `cpu` is the milliseconds of CPU it has used in its life. */
export type RenderReply = { readonly id: number; readonly cpu: number } & (
  { readonly parts: Readonly<Record<string, string>> } | { readonly failure: RenderFailureReason }
);

/** Limits of one rendering (messaging.md §4). */
export const RENDER_LIMITS = { milliseconds: 500, heapMiB: 64, outputBytes: 512 * 1024 } as const;
