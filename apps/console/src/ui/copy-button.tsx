import { Check, Copy } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { IconButton } from './button.tsx';

const SAID_MS = 2_000;

/** Puts a text on the clipboard, and says that it did. */
export function CopyButton({ text, label }: { text: string; label?: string }): ReactNode {
  const t = useTranslations('ui');
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  const Icon = copied ? Check : Copy;
  return (
    <IconButton
      label={copied ? t('copied') : (label ?? t('copy'))}
      onClick={() => void copy()}
      className="min-h-7! min-w-7!"
    >
      <Icon aria-hidden className="size-3.5" />
    </IconButton>
  );
}
