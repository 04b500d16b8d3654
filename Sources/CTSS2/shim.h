// What is asked of a TPM, in C: its structures have arrays within unions.
//
// The storage key is the one of TCG's template for elliptic curves, made anew each time from the owner hierarchy's seed, so
// that nothing lies in the TPM. A clear makes another seed, and so another key, which is told by its name.
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

enum { ctpm_maximum_blob = 1024 };

typedef struct {
    TSS2_TCTI_CONTEXT *transport;
    ESYS_CONTEXT *esys;
    ESYS_TR storage_key;
    ESYS_TR session;
    ESYS_TR object;
} ctpm_connection;

// What has been sealed: the name of the storage key, and the object's two halves.
typedef struct {
    TPM2B_NAME storage_name;
    TPM2B_PUBLIC public_half;
    TPM2B_PRIVATE private_half;
} ctpm_blob;

typedef enum {
    ctpm_done,
    ctpm_unreachable,
    ctpm_refused,
    ctpm_other_tpm,
    ctpm_malformed,
} ctpm_outcome;

static inline TSS2_RC ctpm_make_storage_key(ctpm_connection *tpm) {
    TPM2B_SENSITIVE_CREATE sensitive;
    TPM2B_PUBLIC template;
    TPM2B_DATA outside;
    TPML_PCR_SELECTION registers;
    memset(&sensitive, 0, sizeof sensitive);
    memset(&template, 0, sizeof template);
    memset(&outside, 0, sizeof outside);
    memset(&registers, 0, sizeof registers);
    TPMT_PUBLIC *area = &template.publicArea;
    area->type = TPM2_ALG_ECC;
    area->nameAlg = TPM2_ALG_SHA256;
    area->objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
        | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT;
    area->parameters.eccDetail.symmetric.algorithm = TPM2_ALG_AES;
    area->parameters.eccDetail.symmetric.keyBits.aes = 128;
    area->parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_CFB;
    area->parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL;
    area->parameters.eccDetail.curveID = TPM2_ECC_NIST_P256;
    area->parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL;
    area->unique.ecc.x.size = 32;
    area->unique.ecc.y.size = 32;
    return Esys_CreatePrimary(
        tpm->esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template, &outside,
        &registers, &tpm->storage_key, NULL, NULL, NULL, NULL);
}

// A session whose key only this TPM and this process know: what goes over the bus to the chip is encrypted with it.
static inline TSS2_RC ctpm_start_session(ctpm_connection *tpm) {
    TPMT_SYM_DEF cipher;
    memset(&cipher, 0, sizeof cipher);
    cipher.algorithm = TPM2_ALG_AES;
    cipher.keyBits.aes = 128;
    cipher.mode.aes = TPM2_ALG_CFB;
    return Esys_StartAuthSession(
        tpm->esys, tpm->storage_key, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
        &cipher, TPM2_ALG_SHA256, &tpm->session);
}

static inline TSS2_RC ctpm_encrypt(ctpm_connection *tpm, TPMA_SESSION what) {
    return Esys_TRSess_SetAttributes(tpm->esys, tpm->session, what | TPMA_SESSION_CONTINUESESSION, 0xff);
}

// Reaches the TPM and makes its storage key; the name is compared with one that is expected, or told where none is.
static inline ctpm_outcome ctpm_begin(
    const char *transport, TPM2B_NAME *name, int is_name_expected, ctpm_connection *tpm, TSS2_RC *code) {
    tpm->transport = NULL;
    tpm->esys = NULL;
    tpm->storage_key = tpm->session = tpm->object = ESYS_TR_NONE;
    *code = Tss2_TctiLdr_Initialize(transport, &tpm->transport);
    if (*code) return ctpm_unreachable;
    *code = Esys_Initialize(&tpm->esys, tpm->transport, NULL);
    if (*code) return ctpm_unreachable;
    *code = ctpm_make_storage_key(tpm);
    if (*code) return ctpm_refused;
    TPM2B_NAME *found = NULL;
    *code = Esys_TR_GetName(tpm->esys, tpm->storage_key, &found);
    if (*code) return ctpm_refused;
    int is_other = is_name_expected && (found->size != name->size || memcmp(found->name, name->name, name->size));
    *name = *found;
    Esys_Free(found);
    if (is_other) return ctpm_other_tpm;
    *code = ctpm_start_session(tpm);
    return *code ? ctpm_refused : ctpm_done;
}

static inline void ctpm_end(ctpm_connection *tpm) {
    const ESYS_TR handles[] = { tpm->object, tpm->session, tpm->storage_key };
    for (int index = 0; index < 3; index += 1) {
        // What cannot be flushed goes when the kernel's resource manager sees the connection end.
        if (handles[index] != ESYS_TR_NONE) Esys_FlushContext(tpm->esys, handles[index]);
    }
    if (tpm->esys) {
        // A long answer, over the place where the secret has been in the buffer for commands and answers.
        TPMS_CAPABILITY_DATA *commands = NULL;
        Esys_GetCapability(
            tpm->esys, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, TPM2_CAP_COMMANDS, TPM2_CC_FIRST, TPM2_MAX_CAP_CC, NULL,
            &commands);
        Esys_Free(commands);
        Esys_Finalize(&tpm->esys);
    }
    if (tpm->transport) Tss2_TctiLdr_Finalize(&tpm->transport);
}

static inline TSS2_RC ctpm_marshal(const ctpm_blob *blob, uint8_t *bytes, size_t *count) {
    size_t place = 0;
    TSS2_RC code = Tss2_MU_TPM2B_NAME_Marshal(&blob->storage_name, bytes, ctpm_maximum_blob, &place);
    if (!code) code = Tss2_MU_TPM2B_PUBLIC_Marshal(&blob->public_half, bytes, ctpm_maximum_blob, &place);
    if (!code) code = Tss2_MU_TPM2B_PRIVATE_Marshal(&blob->private_half, bytes, ctpm_maximum_blob, &place);
    *count = place;
    return code;
}

static inline ctpm_outcome ctpm_unmarshal(const uint8_t *bytes, size_t count, ctpm_blob *blob) {
    size_t place = 0;
    memset(blob, 0, sizeof *blob);
    if (Tss2_MU_TPM2B_NAME_Unmarshal(bytes, count, &place, &blob->storage_name)) return ctpm_malformed;
    if (Tss2_MU_TPM2B_PUBLIC_Unmarshal(bytes, count, &place, &blob->public_half)) return ctpm_malformed;
    if (Tss2_MU_TPM2B_PRIVATE_Unmarshal(bytes, count, &place, &blob->private_half)) return ctpm_malformed;
    return place == count ? ctpm_done : ctpm_malformed;
}

// Seals bytes; the blob has room for ctpm_maximum_blob.
static inline ctpm_outcome ctpm_seal(
    const char *transport, const void *secret, size_t count, uint8_t *bytes, size_t *blob_count, TSS2_RC *code) {
    ctpm_connection tpm;
    ctpm_blob blob;
    TPM2B_SENSITIVE_CREATE sensitive;
    TPM2B_PUBLIC template;
    TPM2B_DATA outside;
    TPML_PCR_SELECTION registers;
    TPM2B_PUBLIC *public_half = NULL;
    TPM2B_PRIVATE *private_half = NULL;
    memset(&blob, 0, sizeof blob);
    memset(&sensitive, 0, sizeof sensitive);
    memset(&template, 0, sizeof template);
    memset(&outside, 0, sizeof outside);
    memset(&registers, 0, sizeof registers);
    *code = 0;
    if (count > sizeof sensitive.sensitive.data.buffer) return ctpm_malformed;
    ctpm_outcome outcome = ctpm_begin(transport, &blob.storage_name, 0, &tpm, code);
    if (outcome == ctpm_done) {
        sensitive.sensitive.data.size = (UINT16)count;
        memcpy(sensitive.sensitive.data.buffer, secret, count);
        template.publicArea.type = TPM2_ALG_KEYEDHASH;
        template.publicArea.nameAlg = TPM2_ALG_SHA256;
        template.publicArea.objectAttributes =
            TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA;
        template.publicArea.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL;
        *code = ctpm_encrypt(&tpm, TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT);
        if (!*code) {
            *code = Esys_Create(
                tpm.esys, tpm.storage_key, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template, &outside,
                &registers, &private_half, &public_half, NULL, NULL, NULL);
        }
        // tpm2-tss keeps what it was given to seal in its context, and gives that back unwiped: zeros are sealed over it.
        explicit_bzero(sensitive.sensitive.data.buffer, count);
        if (!*code) {
            *code = Esys_Create(
                tpm.esys, tpm.storage_key, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template, &outside,
                &registers, NULL, NULL, NULL, NULL, NULL);
        }
        if (!*code) {
            blob.private_half = *private_half;
            blob.public_half = *public_half;
            *code = ctpm_marshal(&blob, bytes, blob_count);
        }
        Esys_Free(private_half);
        Esys_Free(public_half);
        if (*code) outcome = ctpm_refused;
    }
    ctpm_end(&tpm);
    return outcome;
}

// Unseals exactly as many bytes as are asked for.
static inline ctpm_outcome ctpm_unseal(
    const char *transport, const uint8_t *bytes, size_t blob_count, void *secret, size_t count, TSS2_RC *code) {
    ctpm_connection tpm;
    ctpm_blob blob;
    TPM2B_SENSITIVE_DATA *data = NULL;
    *code = 0;
    ctpm_outcome outcome = ctpm_unmarshal(bytes, blob_count, &blob);
    if (outcome != ctpm_done) return outcome;
    outcome = ctpm_begin(transport, &blob.storage_name, 1, &tpm, code);
    if (outcome == ctpm_done) {
        *code = ctpm_encrypt(&tpm, TPMA_SESSION_DECRYPT);
        if (!*code) {
            *code = Esys_Load(
                tpm.esys, tpm.storage_key, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &blob.private_half,
                &blob.public_half, &tpm.object);
        }
        if (!*code) *code = ctpm_encrypt(&tpm, TPMA_SESSION_ENCRYPT);
        if (!*code) *code = Esys_Unseal(tpm.esys, tpm.object, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &data);
        if (*code) outcome = ctpm_refused;
        else if (data->size != count) outcome = ctpm_malformed;
        else memcpy(secret, data->buffer, count);
        if (data) explicit_bzero(data, sizeof *data);
        Esys_Free(data);
    }
    ctpm_end(&tpm);
    return outcome;
}
