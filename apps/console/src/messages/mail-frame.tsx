import { useEffect, useRef, type ReactNode } from 'react';

/** What of Trusted Types is used here; browsers without them have no such member. */
interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createHTML: (html: string) => string },
  ) => { createHTML: (html: string) => string };
}

/**
 * The one place of the Console where text becomes a document: an attribute of a frame that may run nothing, ask nothing
 * and lead nowhere. The policy of the pages allows this name alone.
 */
const policy = (window as Window & { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  'mail-preview',
  { createHTML: (html) => html },
);

const HEAD =
  '<!doctype html><meta charset="utf-8">' +
  `<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">` +
  '<meta name="color-scheme" content="light">';

/** A mail as its reader sees it, shut off from everything around it. */
export function MailFrame({ html, title }: { html: string; title: string }): ReactNode {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const page = HEAD + html;
    frame.current?.setAttribute('srcdoc', policy?.createHTML(page) ?? page);
  }, [html]);
  return (
    <iframe
      ref={frame}
      sandbox=""
      title={title}
      referrerPolicy="no-referrer"
      className="h-96 w-full rounded-control border border-line bg-white"
    />
  );
}
