import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Id } from '../ui/details.tsx';
import { useTemplateNames } from './use-routing.ts';
import { isOneOf, REASONS, TONES, type State } from './vocabulary.ts';

/** Where a send stands, in a word. */
export function StateBadge({ state }: { state: State }): ReactNode {
  const t = useTranslations('messages');
  return <Badge tone={TONES[state]}>{t(`states.${state}`)}</Badge>;
}

/** Why, in plain words; a code that this version does not know as it is. */
export function Reason({ code }: { code: string | null }): ReactNode {
  const t = useTranslations('messages');
  if (code === null) return null;
  return isOneOf(REASONS, code) ? t(`reasons.${code}`) : <code className="font-mono text-xs">{code}</code>;
}

/** A template by its name, for who may see it. */
export function TemplateLink({ id }: { id: string }): ReactNode {
  const may = useMay();
  const { organization } = usePerson();
  const name = useTemplateNames([id]).get(id);
  if (!may('messaging.templates.read')) return <Id value={id} />;
  return (
    <Link
      to="/o/$organization/messages/templates/$template"
      params={{ organization: organization.slug, template: id }}
      className="text-accent underline"
    >
      {name === undefined ? <code className="font-mono text-xs">{id}</code> : <bdi>{name}</bdi>}
    </Link>
  );
}
