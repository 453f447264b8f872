// Walks the provider's flows with golang.org/x/oauth2 and github.com/coreos/go-oidc. What these libraries have no call
// for (introspection, revocation, signing out) is plain HTTP, by the addresses of the discovery document.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

type subject struct {
	Issuer        string `json:"issuer"`
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret"`
	RedirectURI   string `json:"redirect_uri"`
	AfterSignOut  string `json:"post_logout_redirect_uri"`
	MachineID     string `json:"machine_id"`
	MachineSecret string `json:"machine_secret"`
	Email         string `json:"email"`
	API           string `json:"api"`
}

type walk struct {
	subject
	answers  *bufio.Reader
	provider *oidc.Provider
	config   oauth2.Config
	token    *oauth2.Token
	more     struct {
		Introspection string `json:"introspection_endpoint"`
		Revocation    string `json:"revocation_endpoint"`
		EndSession    string `json:"end_session_endpoint"`
	}
}

// Where a person's browser ends that is sent to an address.
func (w *walk) ask(verb, address string) (*url.URL, error) {
	fmt.Println(verb, address)
	line, err := w.answers.ReadString('\n')
	if err != nil {
		return nil, err
	}
	return url.Parse(strings.TrimSpace(line))
}

func (w *walk) discovery(ctx context.Context) error {
	provider, err := oidc.NewProvider(ctx, w.Issuer)
	if err != nil {
		return err
	}
	w.provider = provider
	w.config = oauth2.Config{
		ClientID:     w.ClientID,
		ClientSecret: w.ClientSecret,
		Endpoint:     provider.Endpoint(),
		RedirectURL:  w.RedirectURI,
		Scopes:       []string{oidc.ScopeOpenID, "email", oidc.ScopeOfflineAccess},
	}
	return provider.Claims(&w.more)
}

// Signs in, and verifies the ID token. Returns it as it is.
func (w *walk) signIn(ctx context.Context) (string, error) {
	verifier, state, nonce := oauth2.GenerateVerifier(), rand.Text(), rand.Text()
	back, err := w.ask("sign-in", w.config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		return "", err
	}
	if back.Query().Get("state") != state || back.Query().Get("iss") != w.Issuer {
		return "", fmt.Errorf("expected the state and the issuer, got %s", back)
	}
	token, err := w.config.Exchange(ctx, back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return "", err
	}
	w.token = token
	text, _ := token.Extra("id_token").(string)
	verified, err := w.provider.Verifier(&oidc.Config{ClientID: w.ClientID}).Verify(ctx, text)
	if err != nil {
		return "", err
	}
	if verified.Nonce != nonce {
		return "", errors.New("expected the nonce")
	}
	return text, nil
}

func (w *walk) code(ctx context.Context) error {
	_, err := w.signIn(ctx)
	if err == nil && w.token.RefreshToken == "" {
		return errors.New("expected a refresh token")
	}
	return err
}

func (w *walk) userinfo(ctx context.Context) error {
	info, err := w.provider.UserInfo(ctx, oauth2.StaticTokenSource(w.token))
	if err != nil {
		return err
	}
	if info.Email != w.Email {
		return fmt.Errorf("expected %s, got %s", w.Email, info.Email)
	}
	return nil
}

func (w *walk) refresh(ctx context.Context) error {
	former := w.token.RefreshToken
	token, err := w.config.TokenSource(ctx, &oauth2.Token{RefreshToken: former}).Token()
	if err != nil {
		return err
	}
	if token.RefreshToken == former {
		return errors.New("expected another refresh token")
	}
	w.token = token
	return nil
}

func (w *walk) clientCredentials(ctx context.Context) error {
	machine := clientcredentials.Config{
		ClientID: w.MachineID, ClientSecret: w.MachineSecret, TokenURL: w.provider.Endpoint().TokenURL,
	}
	answer, err := machine.Client(ctx).Get(w.API)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("expected 200 of the API, got %d", answer.StatusCode)
	}
	return nil
}

func (w *walk) post(address, token string) ([]byte, error) {
	form := strings.NewReader(url.Values{"token": {token}}.Encode())
	request, err := http.NewRequest(http.MethodPost, address, form)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(w.ClientID, w.ClientSecret)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("expected 200, got %d: %s", answer.StatusCode, body)
	}
	return body, err
}

func (w *walk) expectActive(expected bool) error {
	body, err := w.post(w.more.Introspection, w.token.AccessToken)
	if err != nil {
		return err
	}
	var said struct {
		Active bool `json:"active"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	if said.Active != expected {
		return fmt.Errorf("expected active to be %t", expected)
	}
	return nil
}

func (w *walk) introspection(context.Context) error {
	return w.expectActive(true)
}

func (w *walk) revocation(context.Context) error {
	if _, err := w.post(w.more.Revocation, w.token.RefreshToken); err != nil {
		return err
	}
	return w.expectActive(false)
}

func (w *walk) signOut(ctx context.Context) error {
	hint, err := w.signIn(ctx)
	if err != nil {
		return err
	}
	query := url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {w.AfterSignOut}}
	end, err := w.ask("sign-out", w.more.EndSession+"?"+query.Encode())
	if err == nil && end.String() != w.AfterSignOut {
		return fmt.Errorf("expected %s, got %s", w.AfterSignOut, end)
	}
	return err
}

func main() {
	w := walk{answers: bufio.NewReader(os.Stdin)}
	if err := json.Unmarshal([]byte(os.Getenv("SUBJECT")), &w.subject); err != nil {
		fmt.Fprintln(os.Stderr, "SUBJECT:", err)
		os.Exit(2)
	}
	ctx := context.Background()
	for _, step := range []struct {
		flow string
		run  func(context.Context) error
	}{
		{"discovery", w.discovery},
		{"code", w.code},
		{"userinfo", w.userinfo},
		{"refresh", w.refresh},
		{"client-credentials", w.clientCredentials},
		{"introspection", w.introspection},
		{"revocation", w.revocation},
		{"sign-out", w.signOut},
	} {
		if err := step.run(ctx); err != nil {
			fmt.Println("failed", step.flow, strings.ReplaceAll(err.Error(), "\n", " "))
			return
		}
		fmt.Println("passed", step.flow)
	}
}
