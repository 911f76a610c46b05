"""Roles of mail folders by their names: trash, unsent, junk, unsure, sent or archive, in many languages.

IMAP has SPECIAL-USE for this (RFC 6154), but servers store it in their settings or databases: for a Maildir
or an mbox, only the names of folders are known.
"""

from __future__ import annotations

import binascii
import os

from spamnb.labels import HAM, SPAM
from spamnb.mailboxes.maildir import WITH_MAIL

TRASH, UNSENT, JUNK, UNSURE, SENT, ARCHIVE = "trash", "unsent", "junk", "unsure", "sent", "archive"

# Names that mail programs give folders; case, spaces, hyphens and the like are ignored.
_NAMES = {
    TRASH: """
        trash bin deleted deleteditems deletedmessages deletedmail recyclebin wastebasket rubbish
        papierkorb gelöscht gelöschteelemente gelöschteobjekte gelöschtenachrichten
        corbeille élémentssupprimés messagessupprimés
        papelera papeleradereciclaje elementoseliminados mensajeseliminados eliminados
        cestino postaeliminata messaggieliminati elementieliminati
        prullenbak prullenmand verwijderd verwijderdeitems verwijderdeberichten
        lixeira lixo itensexcluídos itenseliminados mensagenseliminadas
        kosz usunięte elementyusunięte koš odstraněnápošta lomtár töröltelemek
        papperskorg papperskorgen borttaget papirkurv papirkurven slettetpost slettedeelementer
        roskakori poistetut çöpkutusu silinmişöğeler κάδος κάδοςαπορριμμάτων
        корзина удаленные удалённые удаленныеэлементы кошик
        ごみ箱 ゴミ箱 削除済みアイテム 已删除 已删除邮件 已刪除 已刪除郵件 刪除的郵件 废纸篓 回收站 垃圾桶
        휴지통 지운편지함
    """,
    UNSENT: """
        drafts draft templates outbox unsent unsentmessages
        entwürfe entwurf vorlagen postausgang brouillons modèles boîtedenvoi
        borradores plantillas bandejadesalida bozze modelli postainuscita
        concepten sjablonen postvakuit rascunhos modelos caixadesaída
        wersjerobocze kopierobocze szkice szablony skrzynkanadawcza koncepty šablony piszkozatok sablonok
        utkast mallar utkorg utkorgen kladder skabeloner udbakke maler utboks
        luonnokset lähtevät taslaklar πρόχειρα
        черновики шаблоны исходящие чернетки
        下書き テンプレート 送信トレイ 草稿 草稿箱 草稿匣 草稿夹 模板 发件箱 寄件匣 임시보관함
    """,
    JUNK: """
        junk junkmail junkemail junkmessages spam spammail spamverdacht bulk bulkmail quarantine
        unerwünscht unerwünschtewerbung quarantäne indésirable indésirables
        courrierindésirable pourriel pourriels
        correonodeseado correobasura nodeseado cuarentena postaindesiderata indesiderata quarantena
        ongewenst ongewenstemail ongewenstepost lixoeletrônico lixoeletrónico lixoeletronico correioindesejado
        śmieci wiadomościśmieci niechciane nevyžádaná nevyžádanápošta levélszemét
        skräppost uønsketpost uønsketmail søppelpost roskaposti istenmeyen gereksiz ανεπιθύμητα
        спам нежелательная нежелательнаяпочта 迷惑メール 垃圾邮件 垃圾郵件 垃圾信件
        스팸 스팸메일 스팸메일함 스팸편지함
    """,
    UNSURE: "unsure uncertain undecided unsicher incertain incierto incerto twijfel",
    SENT: """
        sent sentitems sentmail sentmessages gesendet gesendeteelemente gesendeteobjekte gesendetenachrichten
        envoyés élémentsenvoyés messagesenvoyés enviados elementosenviados itensenviados mensagensenviadas
        inviata postainviata inviati messaggiinviati elementiinviati verzonden verzondenitems
        wysłane elementywysłane odeslaná odeslanápošta elküldött elküldöttelemek
        skickat skickade sendt sendteelementer lähetetyt gönderilmiş gönderilmişöğeler απεσταλμένα
        отправленные надіслані 送信済み 送信済みアイテム 已发送 已发送邮件 寄件備份 보낸편지함
    """,
    ARCHIVE: "archive archives archived archiv archivo archivio archief arquivo archiwum arkiv arkisto архив",
}
_HAM_NAMES = frozenset("ham inbox nonspam non-spam notspam not-spam notjunk not-junk".split())
_IGNORED = str.maketrans("", "", " -_'’.()[]\t")
_ENDINGS = (".gz", ".xz", ".bz2", ".zst", ".mbox", ".mbx", ".sbd")  # the last of sub-folders, in Thunderbird


def roles_to_leave_out(label: str) -> frozenset[str]:
    """Return the roles of folders whose mail must not be learned under a label.

    Unsent mail was never received, and unsure mail is not yet sorted, so neither has a label. Trash and
    junk are learned only as spam: inside a folder of spam, such folders contain spam, too. A label that has
    the name of a role is also learned from the folders of that role.
    """
    named_for = _role(label)
    others = frozenset((UNSENT, UNSURE) if named_for == JUNK else (UNSENT, UNSURE, TRASH, JUNK))
    return others - {named_for}


def speaks_against(label: str, path: str) -> bool:
    """Return whether the name in `path` contradicts `label`: it means spam for the label ham, or the reverse.

    >>> speaks_against("ham", "mail/spam.mbox"), speaks_against("spam", "Trash")
    (True, False)
    """
    folder, name = os.path.split(os.path.abspath(path))
    name = os.path.basename(folder) if name in WITH_MAIL else name  # Junk/cur
    return role_of(name) == JUNK if label == HAM else label == SPAM and _bare(name).casefold() in _HAM_NAMES


def role_of(name: str) -> str:
    """Return the role (such as "trash") of a folder or mailbox with this name; "" if it has none.

    >>> role_of(".INBOX.Entw&APw-rfe"), role_of("Deleted Items.sbd"), role_of("Lists")
    ('unsent', 'trash', '')
    """
    name = _bare(name)
    # Maildir++ keeps all folders side by side: in `.Trash.2024` the levels are between the dots.
    levels = name.split(".") if name.startswith((".", "INBOX.")) else [name]
    return next((role for level in levels if (role := _role(level))), "")


def _bare(name: str) -> str:
    """Return the name of a mailbox without endings such as .mbox and .gz."""
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _role(name: str) -> str:
    if "&" in name:
        name = _decoded(name)
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFKC", name)  # macOS separates letters from their accents
    return _ROLES.get(name.translate(_IGNORED).casefold(), "")


def _decoded(name: str) -> str:
    """Decode IMAP's modified UTF-7 (RFC 3501), which writes letters as base64 between `&` and `-`."""
    first, *rest = name.split("&")
    parts = [first]
    for part in rest:
        code, dash, plain = part.partition("-")
        padded = code.replace(",", "/") + "=" * (-len(code) % 4)
        try:
            text = binascii.a2b_base64(padded).decode("utf-16-be") if code else "&"
        except ValueError:  # includes UnicodeError and binascii.Error
            text = ""
        parts.append(text + plain if dash and text else "&" + part)
    return "".join(parts)


_ROLES = {name.casefold(): role for role, names in _NAMES.items() for name in names.split()}
