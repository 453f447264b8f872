import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import type { Template } from './template.ts';

/** Which version is sent or put in, and whether a newer one waits. */
export function Published({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const { kind, version, published_version: published, deleted_at: deletedAt } = template;
  if (deletedAt !== null) return <Badge tone="bad">{t('deletedState')}</Badge>;
  if (published === null) return <Badge tone="warn">{t('draft', { kind })}</Badge>;
  if (published === version) return <Badge tone="good">{t('versionSent', { kind, version })}</Badge>;
  return <Badge tone="warn">{t('draftBeyond', { kind, version, published })}</Badge>;
}

/** A template by its name. */
export function ToTemplate({ id, name }: { id: string; name: string }): ReactNode {
  const { organization } = usePerson();
  return (
    <Link
      to="/o/$organization/messages/templates/$template"
      params={{ organization: organization.slug, template: id }}
      className="min-w-0 font-medium break-words text-accent underline"
    >
      <bdi>{name}</bdi>
    </Link>
  );
}
