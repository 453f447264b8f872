import { useEffect, useRef, useState, type ReactNode } from 'react';
import { inScheme, type Scheme } from './mail-scheme.ts';

/** A document of its own policy, that shows what it is told by the page around it: a mail with its styles. */
const PREVIEW = '/console/mail-preview.html';

interface MailFrameProps {
  html: string;
  title: string;
  scheme: Scheme;
}

/** A mail as its reader sees it, shut off from everything around it: it runs nothing, asks nothing and leads nowhere. */
export function MailFrame({ html, title, scheme }: MailFrameProps): ReactNode {
  const frame = useRef<HTMLIFrameElement>(null);
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    // The frame is of no origin that could be named; nothing in it can lead it elsewhere.
    if (loaded)
      frame.current?.contentWindow?.postMessage({ html: inScheme(html, scheme), title, scheme }, '*');
  }, [html, title, scheme, loaded]);
  return (
    <iframe
      ref={frame}
      src={PREVIEW}
      sandbox="allow-scripts"
      title={title}
      referrerPolicy="no-referrer"
      onLoad={() => setLoaded(true)}
      className="h-96 w-full rounded-control border border-line bg-white"
      data-scheme={scheme}
    />
  );
}
