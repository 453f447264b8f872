import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useKeptDraft } from '../ui/kept-drafts.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
import { draftFrom, localesPatch, type Template, type TemplateDraft } from './template.ts';
import { TemplateForm } from './template-form.tsx';
import { useTemplatesChanged } from './use-templates.ts';

interface EditTemplateProps {
  opened: Reading<Template>;
}

/** The form over what a template says. */
export function EditTemplate(props: EditTemplateProps): ReactNode {
  const [discarded, setDiscarded] = useState(0);
  return <TextOfTemplate key={discarded} {...props} onDiscard={() => setDiscarded(discarded + 1)} />;
}

/** A change of a template: what was written, and the reading that it was written over. */
interface KeptTemplate {
  opened: Reading<Template>;
  draft: TemplateDraft;
}

function TextOfTemplate(props: EditTemplateProps & { onDiscard: () => void }): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const changed = useTemplatesChanged();
  const { id } = props.opened.data;
  const { found, keep, forget, formOf } = useKeptDraft<KeptTemplate>(`templates/${id}`);
  const [opened, setOpened] = useState(found?.opened ?? props.opened);
  const [draft, setDraft] = useState(() => found?.draft ?? draftFrom(opened.data));
  const params = { path: { id } };
  const edit = useEdit({
    opened,
    body: bodyOf(draft),
    bodyOf: (template: Template) => bodyOf(draftFrom(template)),
    read: () => api.GET('/v1/messaging/templates/{id}', { params }),
    write: ({ locales, ...body }, on) =>
      api.PATCH('/v1/messaging/templates/{id}', {
        params,
        // What is sent changes when somebody has seen what that changes, and not before.
        body: { ...body, locales: localesPatch(on.data.locales, locales), publish: false },
        ifMatch: on.etag,
      }),
    nameOf: (field) => t(`templateFields.${field}`),
    onTheirs: (now, reading) => {
      forget();
      setOpened(reading);
      setDraft(draftFrom(now));
    },
    onSaved: ({ name, version }, reading) => {
      forget();
      setOpened(reading);
      void changed();
      say(t('templateSaved', { name, version }));
    },
  });
  return (
    <TemplateForm
      id={id}
      draft={draft}
      onChange={(next) => {
        keep({ opened, draft: next });
        setDraft(next);
      }}
      kept={formOf(props.onDiscard)}
      onSave={edit.save}
      busy={edit.busy}
      error={edit.error}
      action={t('saveTemplate')}
    >
      {edit.shown}
    </TemplateForm>
  );
}

/** All but what stays as it was made. */
function bodyOf({ kind: _, channel: __, ...body }: ReturnType<typeof draftFrom>) {
  return body;
}
